import Core

/// Analyzes voices independently of recognition, for an engine that does not determine the pitch itself.
struct VoiceReading: Sendable {
    /// Returns the voice of each part; nil if almost nothing is voiced, or the library does not export its estimator.
    ///
    /// - Parameters:
    ///   - parts: the ranges of the parts, counted from the first sample; anything outside the samples is ignored.
    ///   - samples: mono, 16-bit, 16 kHz.
    func voices(
        of parts: [SampleRange], in samples: UnsafeBufferPointer<Int16>
    ) -> [VoiceAnalytics?] {
        let whole = SampleRange(.zero, SamplePosition(Int64(samples.count)))
        return parts.map { part in
            guard let part = part.intersection(whole) else { return nil }
            let heard = Array(samples[Int(part.start.samples)..<Int(part.end.samples)])
            return VoiceTrack().analytics(of: SampleRange(.zero, SamplePosition(part.count)), in: heard)
        }
    }
}
