import Foundation
import Glibc
import Synchronization
import TestKit
import Testing

@testable import Core
@testable import Recognition
@testable import Speech

@Suite("Audio input of the library") struct SoundTests {
    /// Returns the length of chunks in samples, including gaps. The first chunk must start at 0.
    private func length(of chunks: [AudioChunk]) -> Int64 {
        chunks.reduce(0) { sum, chunk in
            switch chunk {
            case .samples(let samples): sum + Int64(samples.count)
            case .gap(let gap): gap.range.end.samples
            }
        }
    }

    @Test("buffers of any sample rate and channel count keep their length and position")
    func lengths() throws {
        for (rate, channels, isFloat) in [(16_000, 1, false), (16_000, 2, true), (44_100, 2, true), (8_000, 1, false)] {
            var converter = InputConverter(start: .zero)
            var chunks: [AudioChunk] = []
            for _ in 0..<50 {
                let count = rate / 50 * channels
                let buffer =
                    isFloat
                    ? AudioBuffer(
                        float32: [Float](repeating: 0.5, count: count), sampleRate: rate, channelCount: channels)
                    : AudioBuffer(int16: [Int16](repeating: 99, count: count), sampleRate: rate, channelCount: channels)
                #expect(abs(buffer.duration - 0.02) < 1e-9)
                chunks += try converter.chunks(of: AnalyzerInput(buffer: buffer))
            }
            chunks += try converter.finish()
            #expect(abs(length(of: chunks) - 16_000) <= 1)
            #expect(length(of: chunks) == converter.position.samples)
        }
    }

    @Test("16-bit samples at 16 kHz stay unchanged")
    func nativeSamples() throws {
        var converter = InputConverter(start: SamplePosition(5))
        let samples = (0..<1_000).map { Int16(truncatingIfNeeded: $0 &* 7_919) }
        #expect(try converter.chunks(of: AnalyzerInput(buffer: AudioBuffer(int16: samples))) == [.samples(samples)])
        #expect(try converter.finish().isEmpty && converter.position == SamplePosition(1_005))
    }

    @Test("a late start is a gap, an early start is an error, and differences of up to 20 ms are ignored")
    func bufferStartTimes() throws {
        var converter = InputConverter(start: .zero)
        let buffer = AudioBuffer(int16: [Int16](repeating: 0, count: 16_000))
        func chunks(at seconds: Double) throws -> [AudioChunk] {
            try converter.chunks(of: AnalyzerInput(buffer: buffer, bufferStartTime: AudioTime(seconds: seconds)))
        }
        #expect(try chunks(at: 0).count == 1)
        #expect(try chunks(at: 1.019).count == 1)
        let gap = Gap(SampleRange(SamplePosition(32_000), SamplePosition(48_000)), cause: .overrun)
        #expect(try chunks(at: 3).first == .gap(gap))
        #expect(throws: DeviceError.self) { try chunks(at: 3.9) }
        #expect(throws: DeviceError.self) {
            try converter.chunks(of: AnalyzerInput(buffer: AudioBuffer(int16: [1], sampleRate: 10)))
        }
    }

    @Test("start times without gaps do not affect resampling")
    func continuousStartTimes() throws {
        func chunks(hasTimes: Bool) throws -> [AudioChunk] {
            var converter = InputConverter(start: .zero)
            var chunks: [AudioChunk] = []
            for index in 0..<50 {
                let samples = (0..<441).map { Int16(truncatingIfNeeded: (441 * index + $0) &* 7_919) }
                let start = hasTimes ? AudioTime(seconds: Double(index) / 100) : nil
                chunks += try converter.chunks(
                    of: AnalyzerInput(buffer: AudioBuffer(int16: samples, sampleRate: 44_100), bufferStartTime: start))
            }
            return try chunks + converter.finish()
        }
        #expect(try chunks(hasTimes: true) == chunks(hasTimes: false))
    }

    @Test("missing parts of a file become gaps, also at the end of the file and after another file")
    func missingParts() throws {
        var converter = InputConverter(start: SamplePosition(5_000))
        let buffer = AudioBuffer(int16: [Int16](repeating: 0, count: 16_000))
        func chunks(_ buffer: AudioBuffer, missing: Int64, at samples: Int64) throws -> [AudioChunk] {
            try converter.chunks(
                of: AnalyzerInput(buffer: buffer, missing: missing, before: AudioTime(value: samples)))
        }
        func gap(_ start: Int64, _ end: Int64) -> AudioChunk {
            .gap(Gap(SampleRange(SamplePosition(start), SamplePosition(end)), cause: .overrun))
        }
        #expect(try chunks(buffer, missing: 1, at: 1).first == gap(5_000, 5_001))
        #expect(try chunks(AudioBuffer(int16: []), missing: 9_000, at: 25_001) == [gap(21_001, 30_001)])
        #expect(converter.position == SamplePosition(30_001))
    }

    @Test("each iteration reads a file again; the error for a missing file names the file")
    func file() async throws {
        let file = try AudioFile(url: Sounds.amiable)
        let samples = try Sounds.samples(Sounds.amiable)
        #expect(file.estimatedDuration == Double(samples.count) / 16_000)
        for _ in 0..<2 {
            var samplesRead: [Int16] = []
            for try await input in file {
                guard case .int16(let newSamples) = input.buffer.samples else { continue }
                samplesRead += newSamples
            }
            #expect(samplesRead == samples && file.damage == nil)
        }
        let error = await speechError { _ = try AudioFile(url: URL(filePath: "/nowhere.wav")) }
        #expect(error?.code == .audioReadFailed && error?.description.contains("/nowhere.wav") == true)
    }

    @Test("a microphone returns its device's audio, and stops when the iteration ends")
    func microphone() async throws {
        let folder = TemporaryFolder()
        let samples = (1...20_000).map { Int16($0) }
        let raw = folder.file("sound.raw")
        try samples.withUnsafeBytes { Data($0) }.write(to: URL(filePath: raw))
        let configuration = folder.file("asound.conf")
        let device = "{ type file slave.pcm null file /dev/null infile \"\(raw)\" format raw }"
        let text = "</usr/share/alsa/alsa.conf>\npcm.play \(device)\n"
        try Data(text.utf8).write(to: URL(filePath: configuration))
        setenv("ALSA_CONFIG_PATH", configuration, 1)
        var captured: [Int16] = []
        for try await input in Microphone(device: "alsa+fast:play") {
            #expect(input.bufferStartTime == AudioTime(value: Int64(captured.count)))
            guard case .int16(let newSamples) = input.buffer.samples else { continue }
            captured += newSamples
            if captured.count >= samples.count { break }
        }
        #expect(Array(captured.prefix(samples.count)) == samples)
        try await eventually("no thread of a microphone") { Threads.count(named: "microphone") == 0 }
        let error = await speechError { for try await _ in Microphone(device: "absent") {} }
        #expect(error?.code == .microphoneUnavailable)
        let task = Task { for try await _ in Microphone(device: "play") {} }
        task.cancel()
        _ = await task.result
        try await eventually("no thread of a microphone") { Threads.count(named: "microphone") == 0 }
    }

    @Test("times count samples at 16 kHz; an empty range ends where it starts")
    func times() {
        let time = AudioTime(seconds: 1.5)
        #expect(time.value == 24_000 && time.seconds == 1.5 && "\(time)" == "1.5 s")
        let range = AudioTimeRange(start: time, end: .zero)
        #expect(range.isEmpty && range.end == time && !range.contains(time))
        #expect(AudioTimeRange(start: .zero, end: time).contains(.zero))
        #expect(time - AudioTime(seconds: 1) == AudioTime(seconds: 0.5))
    }
}

@Suite("AsyncQueue") struct AsyncQueueTests {
    @Test("elements arrive once and in order, whether the writer or the reader is faster")
    func order() async throws {
        let queue = AsyncQueue<Int>(capacity: 3)
        let writer = Task {
            for number in 0..<2_000 { try await queue.send(number) }
            queue.finish()
        }
        var received: [Int] = []
        while let number = try await queue.next() {
            received.append(number)
            if number % 7 == 0 { await Task.yield() }
            if number % 100 == 3, let elements = try await queue.nextAll() { received += elements }
        }
        #expect(received == Array(0..<2_000))
        try await writer.value
        #expect(try await queue.next() == nil)
    }

    @Test("a cancelled reader or writer stops waiting; others continue")
    func cancelling() async throws {
        let queue = AsyncQueue<Int>(capacity: 1)
        let reader = Task { try await queue.next() }
        reader.cancel()
        #expect(try await reader.value == nil)
        try await queue.send(1)
        #expect(!queue.sendIfSpace(2))
        let writer = Task { try await queue.send(2) }
        writer.cancel()
        await #expect(throws: CancellationError.self) { try await writer.value }
        queue.sendNow(3) { $0 == 1 }
        #expect(try await queue.next() == 3)
        let waitingReader = Task { try await queue.next() }
        queue.finish(throwing: CancellationError())
        await #expect(throws: CancellationError.self) { try await waitingReader.value }
        #expect(try await queue.next() == nil)
        await #expect(throws: CancellationError.self) { try await queue.send(4) }
    }

    @Test("no elements are lost among many readers and writers, even if a writer is cancelled", arguments: 0..<20)
    func stress(round: Int) async throws {
        let queue = AsyncQueue<Int>(capacity: 4)
        let (received, sent) = (Numbers(), Numbers())
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
                group.addTask {
                    let work = Task {
                        for number in 0..<200 {
                            try await queue.send(writer * 1_000 + number)
                            sent.append(writer * 1_000 + number)
                        }
                    }
                    if writer == 3 {
                        while received.all.count < round * 10 { await Task.yield() }
                        work.cancel()
                    }
                    _ = await work.result
                }
            }
            for _ in 0..<3 {
                group.addTask {
                    while let number = try await queue.next() { received.append(number) }
                }
            }
            for _ in 0..<4 { try await group.next() }
            queue.finish()
            try await group.waitForAll()
        }
        #expect(received.all.sorted() == sent.all.sorted())
    }
}

/// A list of numbers that several tasks can append to.
final class Numbers: Sendable {
    private let numbers = Mutex<[Int]>([])

    var all: [Int] { numbers.withLock { $0 } }

    func append(_ number: Int) { numbers.withLock { $0.append(number) } }
}
