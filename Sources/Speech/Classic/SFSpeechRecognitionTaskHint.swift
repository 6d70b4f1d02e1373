import Recognition

/// The kind of speech to expect.
public enum SFSpeechRecognitionTaskHint: Int, Hashable, Sendable, CaseIterable {
    /// The same as `dictation`.
    case unspecified
    /// Continuous speech.
    case dictation
    /// A few words that are not a sentence.
    case search
    /// Yes, no, or a number, in English. Nothing else is recognized.
    case confirmation
}

typealias TaskHint = SFSpeechRecognitionTaskHint

extension SFSpeechRecognitionTaskHint {
    var recognitionHint: RecognitionHint {
        switch self {
        case .unspecified, .dictation: .dictation
        case .search: .search
        case .confirmation: .confirmation
        }
    }
}
