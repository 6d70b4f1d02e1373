/// The supported sample formats, in order of preference.
enum SampleFormat: String, Sendable, CaseIterable {
    case s16 = "S16_LE"
    case s32 = "S32_LE"
    case s24Packed = "S24_3LE"
    /// 24 bits in the lower three of four bytes.
    case s24 = "S24_LE"
    case float = "FLOAT_LE"

    var bytesPerSample: Int {
        switch self {
        case .s16: 2
        case .s24Packed: 3
        case .s32, .s24, .float: 4
        }
    }

    /// Converts raw samples to floating point with full scale at 1.0. Stops at the end of the shorter buffer.
    func decode(_ raw: UnsafeRawBufferPointer, into samples: UnsafeMutableBufferPointer<Float>) {
        let count = min(raw.count / bytesPerSample, samples.count)
        switch self {
        case .s16:
            for index in 0..<count {
                samples[index] = Samples.float(
                    Int16(littleEndian: raw.loadUnaligned(fromByteOffset: index * 2, as: Int16.self)))
            }
        case .s32:
            for index in 0..<count { samples[index] = Float(word(raw, index)) / 2_147_483_648 }
        case .s24:
            // Shift out the upper byte, which is undefined.
            for index in 0..<count { samples[index] = Float(word(raw, index) << 8) / 2_147_483_648 }
        case .s24Packed:
            for index in 0..<count {
                let low = Int32(raw[index * 3]) | Int32(raw[index * 3 + 1]) << 8
                let sample = low | Int32(Int8(bitPattern: raw[index * 3 + 2])) << 16
                samples[index] = Float(sample) / 8_388_608
            }
        case .float:
            for index in 0..<count { samples[index] = Float(bitPattern: UInt32(bitPattern: word(raw, index))) }
            _ = Samples.sanitize(UnsafeMutableBufferPointer(rebasing: samples[..<count]))
        }
    }

    private func word(_ raw: UnsafeRawBufferPointer, _ index: Int) -> Int32 {
        Int32(littleEndian: raw.loadUnaligned(fromByteOffset: index * 4, as: Int32.self))
    }
}
