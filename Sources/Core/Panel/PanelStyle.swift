/// What a press means while recording.
package enum PanelStyle: String, Sendable, CaseIterable {
    /// A press stops; holding marks.
    case toggle
    /// A press marks; holding stops.
    case mark
    /// A press pauses, the next one resumes; holding stops.
    case pause
}
