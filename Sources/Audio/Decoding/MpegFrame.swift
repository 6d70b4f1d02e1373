import Core

/// An MPEG audio layer III frame, parsed from its header.
struct MpegFrame {
    // Bit rates in kbit/s by the index in the header: MPEG 1, then MPEG 2 and 2.5.
    private static let bitRates = [
        [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
        [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
    ]
    private static let rates = [44_100, 48_000, 32_000]

    /// The length in bytes, including the header.
    let length: Int
    let rate: Int
    /// The number of samples per channel.
    let samples: Int

    /// Parses a header. Returns nil if it is invalid or if its bit rate is `free`.
    init?(_ bytes: [UInt8], at index: Int) {
        guard index + 4 <= bytes.count, bytes[index] == 0xff, bytes[index + 1] & 0xe6 == 0xe2 else { return nil }
        let version = Int(bytes[index + 1] >> 3 & 3)
        let (bitRateIndex, rateIndex) = (Int(bytes[index + 2] >> 4), Int(bytes[index + 2] >> 2 & 3))
        guard version != 1, bitRateIndex > 0, bitRateIndex < 15, rateIndex < 3 else { return nil }
        let isMpeg1 = version == 3
        self.rate = Self.rates[rateIndex] >> (isMpeg1 ? 0 : version == 2 ? 1 : 2)
        samples = isMpeg1 ? 1_152 : 576
        let kilobits = Self.bitRates[isMpeg1 ? 0 : 1][bitRateIndex]
        length = samples / 8 * 1_000 * kilobits / self.rate + Int(bytes[index + 2] >> 1 & 1)
    }

    /// Finds the offset of the first frame in an MP3 file, after tags or junk. Returns nil if no frame is followed by two
    /// more frames.
    static func first(in source: ByteSource) throws(DeviceError) -> Int64? {
        let start = try SoundTags.end(of: source, at: 0)
        let bytes = try source.bytes(at: start, count: 1 << 18)
        for index in bytes.indices where bytes[index] == 0xff {
            var (offset, count) = (index, 0)
            while count < 3, let frame = MpegFrame(bytes, at: offset) {
                offset += frame.length
                count += 1
            }
            if count == 3 { return start + Int64(index) }
        }
        return nil
    }

    /// Returns the length in seconds from an MP3 file's first frame; nil if it has no frame count.
    ///
    /// ffprobe ignores this length if the file's size has changed, as in a concatenated or truncated file.
    static func promisedLength(of source: ByteSource) throws(DeviceError) -> Double? {
        guard let start = try first(in: source) else { return nil }
        let bytes = try source.bytes(at: start, count: 256)
        guard let frame = MpegFrame(bytes, at: 0) else { return nil }
        func number(at index: Int) -> Int { bytes[index..<(index + 4)].reduce(0) { $0 << 8 | Int($1) } }
        for index in 4..<max(4, min(bytes.count - 18, 48)) {
            let frames: Int
            if ["Xing", "Info"].contains(where: { bytes[index...].starts(with: $0.utf8) }) {
                guard bytes[index + 7] & 1 != 0 else { return nil }
                frames = number(at: index + 8)
            } else if bytes[index...].starts(with: "VBRI".utf8) {
                frames = number(at: index + 14)
            } else {
                continue
            }
            return Double(frames * frame.samples) / Double(frame.rate)
        }
        return nil
    }
}
