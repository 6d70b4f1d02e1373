import Core
internal import CPocketSphinx

/// Computes an utterance's cepstra with PocketSphinx's front end.
final class FrontEnd {
    // Safety: owned by this object, closed once in deinit; nil if the library does not export its front end.
    private let pointer: OpaquePointer?
    /// The maximum number of frames per call of the library.
    private static let batch = 64

    let warp: Double
    /// The number of values per frame; 0 if the library does not export its front end.
    let width: Int
    /// The values of all frames of the utterance so far, frame by frame.
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

    func append(_ samples: UnsafeBufferPointer<Int16>) throws(DeviceError) {
        guard let pointer else { return }
        var (next, remaining) = (samples.baseAddress, samples.count)
        while remaining > 0 {
            let before = remaining
            let count = grow { fieldscribe_fe_process(pointer, &next, &remaining, $0, Int32(Self.batch)) }
            guard count >= 0 else {
                throw DeviceError(
                    .failed, "fe_process_frames", "PocketSphinx rejected the audio",
                    remedy: "the utterance will be decoded again")
            }
            // The library keeps an incomplete frame for the next call.
            if count == 0, remaining == before { return }
        }
    }

    func end() {
        guard let pointer else { return }
        _ = grow { fieldscribe_fe_end(pointer, $0) }
    }

    /// The mean of all frames with energy; nil if there are no frames.
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

/// The running mean of an utterance's first frames.
struct CepstralMean {
    /// The number of frames so far, including those without energy.
    private(set) var frames = 0
    /// One value per coefficient; empty before the first frame.
    private(set) var values: [Float] = []
    private var sums: [Double] = []
    private var summedFrames = 0.0

    /// Adds the front end's frames before `count`, or all if there are fewer.
    mutating func grow(to count: Int, of frontEnd: FrontEnd) {
        let (width, count) = (frontEnd.width, min(count, frontEnd.frames))
        guard count > frames else { return }
        if values.isEmpty {
            sums = [Double](repeating: 0, count: width)
            values = [Float](repeating: 0, count: width)
        }
        // Frames without energy contain no information about the channel; the library also skips them.
        for first in stride(from: frames * width, to: count * width, by: width) where frontEnd.cepstra[first] >= 0 {
            summedFrames += 1
            for index in 0..<width { sums[index] += Double(frontEnd.cepstra[first + index]) }
        }
        frames = count
        guard summedFrames > 0 else { return }
        for index in 0..<width { values[index] = Float(sums[index] / summedFrames) }
    }
}
