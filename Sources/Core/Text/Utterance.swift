/// A range of audio to recognize as one, as the segmenter cut it.
package struct Utterance: Hashable, Sendable {
    /// Counts from 1 within its recording.
    package var id: Int
    /// The audio for the recognizer: the speech with padding, or with the overlap at a rotation.
    package var audio: SampleRange
    /// The detected speech, which belongs to this utterance alone.
    package var speech: SampleRange
    /// Why it ended where it did.
    package var endedBy: EndReason
}
