import Core
import System

/// The language of a model or of `recognizer.language`, such as `uk` or `pt-BR`.
package struct LanguageTag: Hashable, Sendable {
    /// The tag with a lowercase language and an uppercase region.
    package let text: String

    /// The file in a model's folder that names its language. If there is no such file, the folder's name determines the
    /// language.
    static let file = "LANGUAGE"

    /// Parses a language of two or three letters, with or without a region of two letters or three digits. Returns nil
    /// for any other text.
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        let areASCII = parts.allSatisfy { $0.allSatisfy(\.isASCIIAlphanumeric) }
        guard areASCII, (1...2).contains(parts.count), (2...3).contains(parts[0].count), parts[0].allSatisfy(\.isLetter)
        else { return nil }
        guard parts.count == 2 else {
            self.text = parts[0].lowercased()
            return
        }
        let isCountry = parts[1].count == 2 && parts[1].allSatisfy(\.isLetter)
        guard isCountry || parts[1].count == 3 && parts[1].allSatisfy(\.isNumber) else { return nil }
        self.text = "\(parts[0].lowercased())-\(parts[1].uppercased())"
    }

    /// Reads the language from the file LANGUAGE of a model's folder; nil if there is no valid one.
    init?(ofFolder path: String) {
        guard let bytes = try? beginning(ofFile: "\(path)/\(Self.file)", count: 64) else { return nil }
        self.init(String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace).first ?? "")
    }

    /// Returns whether a model for the other language can transcribe this one, possibly with another region's accent.
    ///
    /// - Parameter sameRegion: whether the regions must also match, if both tags have one.
    package func isCovered(by other: LanguageTag, sameRegion: Bool) -> Bool {
        let (parts, otherParts) = (text.split(separator: "-"), other.text.split(separator: "-"))
        return zip(parts, otherParts).prefix(sameRegion ? 2 : 1).allSatisfy { $0 == $1 }
    }
}
