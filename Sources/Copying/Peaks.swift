/// The peaks of 1,200 equal sections of audio, or of fewer sections if there are fewer samples.
package struct Peaks {
    private static let maximumSections = 1_200

    /// From 0 to 255; empty if there are no samples.
    package private(set) var values: [UInt8]
    private let length: Int64
    private var position: Int64 = 0

    /// - Parameter length: the number of samples per channel that will be added.
    package init(length: Int64) {
        self.length = max(1, length)
        values = [UInt8](repeating: 0, count: Int(min(Int64(Self.maximumSections), max(0, length))))
    }

    /// Adds samples with interleaved channels.
    package mutating func add(_ samples: UnsafeBufferPointer<Int16>, channels: Int) {
        guard !values.isEmpty else { return }
        let sections = Int64(values.count)
        var consumed = 0
        while consumed < samples.count / channels, position < length {
            let index = position * sections / length
            // The first sample of the next section.
            let end = ((index + 1) * length + sections - 1) / sections
            let count = Int(min(end - position, Int64(samples.count / channels - consumed)))
            var loudest: UInt16 = 0
            for sample in samples[(consumed * channels)..<((consumed + count) * channels)] {
                loudest = max(loudest, sample.magnitude)
            }
            values[Int(index)] = max(values[Int(index)], UInt8(min(255, loudest >> 7)))
            consumed += count
            position += Int64(count)
        }
    }
}
