/// The loudest sample of each of 1,200 equal sections of audio.
package struct Peaks {
    private static let count = 1_200

    /// 0 to 255 each; empty without samples.
    package private(set) var values: [UInt8]
    private let length: Int64
    private var place: Int64 = 0

    /// - Parameter length: the number of samples to come.
    package init(length: Int64) {
        self.length = max(1, length)
        values = [UInt8](repeating: 0, count: Int(min(Int64(Self.count), max(0, length))))
    }

    /// Adds samples, channels interleaved.
    package mutating func add(_ samples: UnsafeBufferPointer<Int16>, channels: Int) {
        guard !values.isEmpty else { return }
        let stretches = Int64(values.count)
        var taken = 0
        while taken < samples.count / channels, place < length {
            let index = place * stretches / length
            // The first sample of the next section.
            let end = ((index + 1) * length + stretches - 1) / stretches
            let count = Int(min(end - place, Int64(samples.count / channels - taken)))
            var loudest: UInt16 = 0
            for sample in samples[(taken * channels)..<((taken + count) * channels)] {
                loudest = max(loudest, sample.magnitude)
            }
            values[Int(index)] = max(values[Int(index)], UInt8(min(255, loudest >> 7)))
            taken += count
            place += Int64(count)
        }
    }
}
