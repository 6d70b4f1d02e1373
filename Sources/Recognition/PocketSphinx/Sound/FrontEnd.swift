import Core
internal import CPocketSphinx

/// Owns a front end: the samples of one utterance after the other in, cepstra and their mean out.
final class FrontEnd {
    // Safety: owned by this object alone, closed once in deinit; nil where the library keeps its own to itself.
    private let pointer: OpaquePointer?
    private static let batch = 64

    let warp: Double
    /// Values a frame; 0 where the library keeps its front end to itself.
    let width: Int
    /// The frames of the utterance so far, one behind the other.
    private(set) var cepstra: [Float] = []

    init(decoder: DecoderHandle, warp: Double) {
        pointer = fieldscribe_fe_open(decoder.pointer, warp)
        width = pointer.map { Int(fieldscribe_fe_width($0)) } ?? 0
        self.warp = warp
    }

    deinit { if let pointer { fieldscribe_fe_close(pointer) } }

    var frames: Int { width > 0 ? cepstra.count / width : 0 }

    func begin() {
        cepstra.removeAll(keepingCapacity: true)
        if let pointer { fieldscribe_fe_begin(pointer) }
    }

    func hear(_ samples: UnsafeBufferPointer<Int16>) throws(DeviceError) {
        guard let pointer else { return }
        var (next, left) = (samples.baseAddress, samples.count)
        while left > 0 {
            let before = left
            let count = grow { fieldscribe_fe_hear(pointer, &next, &left, $0, Int32(Self.batch)) }
            guard count >= 0 else {
                throw DeviceError(
                    .failed, "fe_process_frames", "PocketSphinx rejected the audio", remedy: "it is tried again")
            }
            // What is less than a frame it keeps for the next time.
            if count == 0, left == before { return }
        }
    }

    /// The utterance is complete.
    func end() {
        guard let pointer else { return }
        _ = grow { fieldscribe_fe_end(pointer, $0) }
    }

    /// The mean of all frames; nil without any.
    var mean: [Float]? {
        var mean = CepstralMean()
        mean.grow(to: frames, of: self)
        return mean.frames > 0 ? mean.values : nil
    }

    private func grow(by fill: (UnsafeMutablePointer<Float>?) -> Int32) -> Int {
        let old = cepstra.count
        cepstra.append(contentsOf: repeatElement(0, count: Self.batch * width))
        let count = Int(cepstra.withUnsafeMutableBufferPointer { fill($0.baseAddress.map { $0 + old }) })
        cepstra.removeLast((Self.batch - max(0, count)) * width)
        return count
    }
}
