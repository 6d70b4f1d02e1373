import Core

/// How voices sound, told without reading what they say: for an engine that has no pitch of its own.
package struct VoiceReading: Sendable {
    package init() {}

    /// The voice of each part; nil where next to nothing is voiced, or the library keeps its estimator to itself.
    ///
    /// - Parameters:
    ///   - parts: counted from the first sample; what lies outside the samples is left out.
    ///   - samples: mono, 16-bit, 16 kHz.
    package func voices(
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
