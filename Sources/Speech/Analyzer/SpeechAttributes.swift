import FoundationEssentials

extension AttributeScopes {
    /// The attributes of transcribed text.
    public var speech: SpeechAttributes.Type { SpeechAttributes.self }

    /// The attributes of transcribed text.
    public struct SpeechAttributes: AttributeScope {
        /// The range of a word in the audio.
        public let audioTimeRange: TimeRangeAttribute
        /// The probability, from 0 to 1, that a word is correct.
        public let transcriptionConfidence: ConfidenceAttribute

        /// The range of a word in the audio.
        public enum TimeRangeAttribute: AttributedStringKey {
            /// A range in the analyzed audio.
            public typealias Value = AudioTimeRange
            /// The attribute's name.
            public static let name = "fieldscribe.audioTimeRange"
        }

        /// The probability, from 0 to 1, that a word is correct.
        public enum ConfidenceAttribute: AttributedStringKey {
            /// A probability.
            public typealias Value = Double
            /// The attribute's name.
            public static let name = "fieldscribe.transcriptionConfidence"
        }
    }
}

extension AttributeDynamicLookup {
    /// Finds an attribute of transcribed text by its name.
    public subscript<Key: AttributedStringKey>(
        dynamicMember keyPath: KeyPath<AttributeScopes.SpeechAttributes, Key>
    ) -> Key { self[Key.self] }
}
