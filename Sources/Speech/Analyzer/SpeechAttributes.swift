import FoundationEssentials

extension AttributeScopes {
    /// The attributes of transcribed text.
    public var speech: SpeechAttributes.Type { SpeechAttributes.self }

    /// The attributes of transcribed text.
    public struct SpeechAttributes: AttributeScope {
        /// When a word was said.
        public let audioTimeRange: TimeRangeAttribute
        /// From 0 to 1: how probably a word is right.
        public let transcriptionConfidence: ConfidenceAttribute

        /// When a word was said.
        public enum TimeRangeAttribute: AttributedStringKey {
            /// A range of the analyzed audio.
            public typealias Value = AudioTimeRange
            /// The attribute's name.
            public static let name = "fieldscribe.audioTimeRange"
        }

        /// From 0 to 1: how probably a word is right.
        public enum ConfidenceAttribute: AttributedStringKey {
            /// A share.
            public typealias Value = Double
            /// The attribute's name.
            public static let name = "fieldscribe.transcriptionConfidence"
        }
    }
}

extension AttributeDynamicLookup {
    /// Finds the attributes of transcribed text by their names.
    public subscript<Key: AttributedStringKey>(
        dynamicMember keyPath: KeyPath<AttributeScopes.SpeechAttributes, Key>
    ) -> Key { self[Key.self] }
}
