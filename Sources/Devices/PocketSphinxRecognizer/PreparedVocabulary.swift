/// A person's words and phrases, ready for the decoder.
package struct PreparedVocabulary: Hashable, Sendable {
    /// What is done with them.
    package enum Use: Hashable, Sendable {
        /// A language model of the phrases, which raises them over what the model's own thinks of them.
        case phrases(languageModel: String)
        /// Nothing else is understood than what this JSGF grammar tells.
        case grammar(String)
    }

    /// The model's dictionary and the words that it lacked.
    package var dictionary: String
    package var use: Use

    package init(dictionary: String, use: Use) {
        self.dictionary = dictionary
        self.use = use
    }
}
