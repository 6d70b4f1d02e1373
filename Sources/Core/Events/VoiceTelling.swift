/// The ability to tell how a voice sounded, without reading what it said.
package protocol VoiceTelling {
    /// How the voice sounded in each of these stretches; nil where next to nothing is voiced, or it cannot be told.
    ///
    /// - Parameters:
    ///   - parts: in order, counted from the first sample.
    ///   - samples: mono, 16-bit, 16 kHz.
    func voices(of parts: [SampleRange], in samples: UnsafeBufferPointer<Int16>) -> [VoiceAnalytics?]
}
