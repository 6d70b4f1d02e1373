internal import CSndfile
import Glibc

/// Measures the peak level of a file whose samples may exceed full scale.
enum FloatPeak {
    /// Reads the file to its end, rewinds it, and returns the peak, at least 1.
    ///
    /// Ignores a few outliers caused by damage, since they would make the rest inaudible.
    /// - Parameter buffer: A buffer whose length is a multiple of the channel count.
    static func measure(_ handle: OpaquePointer, _ buffer: UnsafeMutableBufferPointer<Float>, channels: Int) -> Float {
        // For each power of two, the peak and the number of the samples between it and the next one.
        var peaks = [Float](repeating: 0, count: 64)
        var counts = [Int](repeating: 0, count: 64)
        var total = 0
        while true {
            let frames = Int(sf_readf_float(handle, buffer.baseAddress, Int64(buffer.count / channels)))
            if frames <= 0 { break }
            total += frames * channels
            for index in 0..<(frames * channels) {
                let sample = abs(buffer[index])
                guard sample > 1, sample.isFinite else { continue }
                let power = min(63, Int(sample.exponent))
                peaks[power] = max(peaks[power], sample)
                counts[power] += 1
            }
        }
        sf_seek(handle, 0, SEEK_SET)
        var samplesAbove = 0
        for power in peaks.indices.reversed() where counts[power] > 0 {
            samplesAbove += counts[power]
            if samplesAbove > total / 100_000 { return peaks[power] }
        }
        return 1
    }

    static func decibels(_ peak: Float) -> String {
        let tenths = Int((200 * log10f(peak)).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }
}
