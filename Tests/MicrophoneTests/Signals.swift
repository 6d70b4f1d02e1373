import Glibc

@testable import Core

/// Returns a sampled sine.
func sine(_ frequency: Double, rate: Int, count: Int, amplitude: Double = 0.5) -> [Float] {
    (0..<count).map { Float(amplitude * sin(2 * .pi * frequency * Double($0) / Double(rate))) }
}

/// Returns the signal-to-noise ratio in decibels compared with an ideal signal, excluding the edges.
func signalToNoise(_ samples: [Int16], ideal: [Float], edge: Int = 400) -> Double {
    var signal = 0.0
    var noise = 0.0
    for index in edge..<(min(samples.count, ideal.count) - edge) {
        let expected = Double(ideal[index])
        let difference = Double(samples[index]) / 32_768 - expected
        signal += expected * expected
        noise += difference * difference
    }
    return 10 * log10(signal / max(noise, 1e-30))
}

/// Copies each sample to all channels.
func interleaved(_ samples: [Float], channels: Int) -> [Float] {
    samples.flatMap { [Float](repeating: $0, count: channels) }
}

/// Returns 16-bit samples that differ from their neighbors and use the whole range.
func ramp(_ count: Int) -> [Int16] { (0..<count).map { Int16(truncatingIfNeeded: $0 * 331 - 32_768) } }

func littleEndian(_ samples: [Int16]) -> [UInt8] {
    samples.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
}

func littleEndian(_ number: some FixedWidthInteger) -> [UInt8] {
    (0..<number.bitWidth / 8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
}

/// Reads a microphone until it ends or has delivered a number of blocks.
func samples(of microphone: any Microphone, blocks: Int = .max) throws -> [Int16] {
    let buffer = UnsafeMutableBufferPointer<Int16>.allocate(capacity: microphone.channels * microphone.maximumBlock)
    defer { buffer.deallocate() }
    var all: [Int16] = []
    var count = 0
    while count < blocks, case .samples(let frames) = try microphone.read(into: buffer) {
        all += buffer[..<(frames * microphone.channels)]
        count += 1
    }
    return all
}
