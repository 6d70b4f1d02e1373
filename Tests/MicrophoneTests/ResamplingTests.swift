import Testing

@testable import Audio
@testable import Core

@Suite("Resampling") struct ResamplingTests {
    private static let rates = [8_000, 11_025, 22_050, 32_000, 44_100, 48_000, 96_000, 192_000]

    @Test("an impulse keeps its time", arguments: rates)
    func impulseStays(rate: Int) throws {
        var input = [Float](repeating: 0, count: rate)
        input[rate / 2] = 1
        let output = try convert(input, rate: rate)
        let peak = try #require(output.indices.max { abs(Int(output[$0])) < abs(Int(output[$1])) })
        #expect(abs(peak - 8_000) <= 1)
    }

    @Test("the output is as long as the input, to within one sample", arguments: rates, [1, 100, 4_801, 100_003])
    func length(rate: Int, count: Int) throws {
        let output = try convert([Float](repeating: 0.1, count: count), rate: rate)
        #expect(abs(Double(output.count) - Double(count) * 16_000 / Double(rate)) <= 1)
    }

    @Test("a sine stays unchanged", arguments: rates)
    func sineStays(rate: Int) throws {
        let output = try convert(sine(1_000, rate: rate, count: rate * 2), rate: rate)
        #expect(signalToNoise(output, ideal: sine(1_000, rate: 16_000, count: output.count)) > 60)
    }

    @Test("frequencies above 8 kHz are filtered out")
    func noAliases() throws {
        let output = try convert(sine(9_500, rate: 48_000, count: 96_000), rate: 48_000)
        #expect(output[400..<(output.count - 400)].allSatisfy { abs($0) <= 2 })
    }

    @Test("16-bit mono audio at 16 kHz passes unchanged")
    func passesUnchanged() throws {
        let input = ramp(70_000)
        #expect(try convert(input.map(Samples.float), rate: 16_000) == input)
    }

    @Test("channels are averaged", arguments: [16_000, 48_000])
    func channelsAverage(rate: Int) throws {
        let left = sine(500, rate: rate, count: rate, amplitude: 0.8)
        let stereo = left.flatMap { [$0, 0] as [Float] }
        let output = try convert(stereo, rate: rate, channels: 2)
        #expect(signalToNoise(output, ideal: sine(500, rate: 16_000, count: 16_000, amplitude: 0.4)) > 60)
    }

    @Test("after a reset, a converter behaves like a new one")
    func resetsToNew() throws {
        let converter = try ChannelConverter(rate: 48_000, channels: 1, block: 4_800)
        let input = sine(700, rate: 48_000, count: 20_000)
        let first = try convert(input, channels: 1, with: converter)
        try converter.reset()
        #expect(try convert(input, channels: 1, with: converter) == first)
        #expect(first.count == 6_667)
    }

    @Test("input after the end is rejected")
    func refusesInputAfterEnd() throws {
        let converter = try ChannelConverter(rate: 48_000, channels: 1, block: 4_800)
        let input = sine(700, rate: 48_000, count: 20_000)
        _ = try convert(input, channels: 1, with: converter)
        #expect(try deviceError { _ = try convert(input, channels: 1, with: converter) }.code == .failed)
    }

    @Test("a block that fits is consumed completely", arguments: rates)
    func consumesWholeBlock(rate: Int) throws {
        let block = rate / 10
        let converter = try ChannelConverter(rate: rate, channels: 1, block: block)
        let output = UnsafeMutableBufferPointer<Int16>.allocate(capacity: converter.maximumOutput)
        defer { output.deallocate() }
        let input = sine(300, rate: rate, count: block)
        for _ in 0..<50 {
            #expect(try input.withUnsafeBufferPointer { try converter.convert($0, into: output) }.consumed == block)
        }
    }

    @Test(
        "samples are rounded and clipped",
        arguments: [
            (0.0, 0), (1.0, 32_767), (-1.0, -32_768), (2.5, 32_767), (-7.0, -32_768), (0.6 / 32_768, 1),
            (-0.6 / 32_768, -1), (0.4 / 32_768, 0), (.nan, 0), (.infinity, 32_767),
        ] as [(Float, Int16)])
    func quantizes(value: Float, expected: Int16) {
        #expect(Samples.quantize(value) == expected)
    }

    @Test("NaN and infinity become silence and are counted")
    func sanitizes() {
        var values: [Float] = [.nan, 0.5, .infinity, -.infinity, 1e30, -1e30, -0.25]
        let invalid = values.withUnsafeMutableBufferPointer { Samples.sanitize($0) }
        #expect(invalid == 3)
        #expect(values == [0, 0.5, 0, 0, Samples.limit, -Samples.limit, -0.25])
    }

    @Test(
        "channels that cancel each other out are replaced by the louder one, from the first block on",
        arguments: [16_000, 48_000])
    func cancelling(rate: Int) throws {
        let voice = sine(440, rate: rate, count: rate)
        let converter = try ChannelConverter(rate: rate, channels: 2, block: 1_000)
        let output = try convert(
            voice.flatMap { (sample: Float) -> [Float] in [0.9 * sample, -sample] }, channels: 2, with: converter)
        #expect(signalToNoise(output, ideal: sine(440, rate: 16_000, count: 16_000).map { -$0 }) > 40)
        #expect(converter.hasCancelled && converter.isCancelling)
    }

    @Test(
        "channels that do not cancel each other out are mixed normally",
        arguments: [(1.0, 1.0), (1.0, 0.0), (0.5, -0.1), (0.0, 0.0)])
    func mixing(gains: (Double, Double)) throws {
        let voice = sine(440, rate: 16_000, count: 16_000)
        let converter = try ChannelConverter(rate: 16_000, channels: 2, block: 1_000)
        let output = try convert(
            voice.flatMap { (sample: Float) -> [Float] in [sample * Float(gains.0), sample * Float(gains.1)] },
            channels: 2, with: converter)
        let mean = Float((gains.0 + gains.1) / 2)
        #expect(
            output == voice.map { Samples.quantize($0 * mean) }
                || signalToNoise(output, ideal: voice.map { $0 * mean }) > 80)
        #expect(!converter.hasCancelled)
    }

    @Test("once channels no longer cancel each other out, they are mixed again")
    func cancellingEnds() throws {
        let voice = sine(440, rate: 16_000, count: 64_000)
        let converter = try ChannelConverter(rate: 16_000, channels: 2, block: 1_000)
        _ = try convert(
            voice.flatMap { (sample: Float) -> [Float] in [sample, -sample] }, channels: 2, with: converter)
        #expect(converter.isCancelling)
        let output = try convert(interleaved(voice, channels: 2), channels: 2, with: converter)
        #expect(!converter.isCancelling && converter.hasCancelled)
        #expect(signalToNoise(output, ideal: voice) > 80)
    }

    @Test("invalid rates are rejected", arguments: [0, 1, 999, 1_000_001])
    func refusesRates(rate: Int) throws {
        let error = try deviceError { _ = try ChannelConverter(rate: rate, channels: 1, block: 100) }
        #expect(error.code == .unsupported)
    }

    private func convert(_ input: [Float], rate: Int, channels: Int = 1) throws -> [Int16] {
        try convert(input, channels: channels, with: ChannelConverter(rate: rate, channels: channels, block: 1_000))
    }

    private func convert(_ input: [Float], channels: Int, with converter: ChannelConverter) throws -> [Int16] {
        let buffer = UnsafeMutableBufferPointer<Int16>.allocate(capacity: 777)
        defer { buffer.deallocate() }
        var output: [Int16] = []
        try input.withUnsafeBufferPointer { input in
            var offset = 0
            while offset < input.count {
                let rest = UnsafeBufferPointer(rebasing: input[offset...])
                let (consumed, produced) = try converter.convert(rest, into: buffer)
                try #require(consumed + produced > 0)
                offset += consumed * channels
                output += buffer[..<produced]
            }
        }
        while true {
            let produced = try converter.flush(into: buffer)
            if produced == 0 { return output }
            output += buffer[..<produced]
        }
    }
}
