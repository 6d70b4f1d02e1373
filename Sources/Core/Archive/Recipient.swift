/// A public key that copies are encrypted for, in a form that `age` accepts: `age1...`, `ssh-ed25519 ...` or
/// `ssh-rsa ...`. Only `age` checks the key itself.
package struct Recipient: Hashable, Sendable {
    private static let maximumBytes = 8_192
    /// The key, without the comment of an SSH key.
    package let text: String

    /// Returns nil if the text does not have the form of a public key.
    package init?(_ text: String) {
        let fields = text.split(whereSeparator: \.isWhitespace)
        guard let first = fields.first, text.utf8.count <= Self.maximumBytes else { return nil }
        switch first {
        case "ssh-ed25519", "ssh-rsa":
            let isKey = fields.count > 1 && fields[1].allSatisfy { $0.isASCIIAlphanumeric || "+/=".contains($0) }
            guard isKey else { return nil }
            self.text = "\(first) \(fields[1])"
        default:
            let isKey = first.hasPrefix("age1") && first.utf8.count >= 20 && first.allSatisfy(\.isASCIIAlphanumeric)
            guard fields.count == 1, isKey else { return nil }
            self.text = String(first)
        }
    }

    /// An abbreviation that distinguishes keys: `age1gsys5...cygd`.
    package var short: String { text.utf8.count > 40 ? "\(text.prefix(24))...\(text.suffix(4))" : text }
}

/// Recognizes private keys, so that they never reach a message, a log or a file.
package enum PrivateKey {
    private static let prefixes = ["AGE-SECRET-KEY-", "AGE-PLUGIN-", "-----BEGIN "]

    /// The reason for rejecting text that contains a private key; does not quote the text.
    package static let refusal =
        "is a private key, which must not be on the recorder; remove it and give the public key "
        + "(age-keygen -y key.txt shows it)"

    /// Returns whether text contains a private key, which `age` calls an identity.
    package static func isIn(_ text: String) -> Bool {
        let capitals = text.uppercased()
        return prefixes.contains { capitals.contains($0) }
    }

    /// Returns the reason for a rejection, or `refusal` if the reason quotes a private key.
    package static func refusing(_ reason: String) -> String { isIn(reason) ? refusal : reason }

    /// Returns the text, or a placeholder if it contains a private key.
    package static func hidden(in text: String) -> String { isIn(text) ? "(a private key)" : text }
}

/// The format of `minisign` keys.
package enum SigningKey {
    /// Returns whether text has the form of a public key: 42 bytes in base64, of which the first two mean Ed25519.
    package static func isPublic(_ text: String) -> Bool {
        text.hasPrefix("RW") && text.utf8.count == 56
            && text.allSatisfy { $0.isASCIIAlphanumeric || $0 == "+" || $0 == "/" }
    }
}
