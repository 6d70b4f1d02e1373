/// Somebody for whom copies are sealed: a public key as `age` takes it, `age1...`, `ssh-ed25519 ...` or `ssh-rsa ...`.
///
/// Only its form is looked at here; whether it is a key at all, `age` tells.
package struct Recipient: Hashable, Sendable {
    private static let longest = 8_192

    /// The key; without the comment that keys of SSH may end with.
    package let text: String

    /// - Returns: nil for what does not have the form of a public key.
    package init?(_ text: String) {
        let fields = text.split(whereSeparator: \.isWhitespace)
        guard let first = fields.first, text.utf8.count <= Self.longest else { return nil }
        switch first {
        case "ssh-ed25519", "ssh-rsa":
            let isKey = fields.count > 1 && fields[1].allSatisfy { Self.isPlain($0) || "+/=".contains($0) }
            guard isKey else { return nil }
            self.text = "\(first) \(fields[1])"
        default:
            guard fields.count == 1, first.hasPrefix("age1"), first.utf8.count >= 20, first.allSatisfy(Self.isPlain)
            else { return nil }
            self.text = String(first)
        }
    }

    /// Enough of it to tell it from others: `age1gsys5...cygd`.
    package var short: String { text.utf8.count > 40 ? "\(text.prefix(24))...\(text.suffix(4))" : text }

    private static func isPlain(_ character: Character) -> Bool {
        character.isASCII && (character.isLetter || character.isNumber)
    }
}

/// Private keys, which open what is sealed: they stand in no message, no log and no file of ours.
package enum PrivateKey {
    private static let starts = ["AGE-SECRET-KEY-", "AGE-PLUGIN-", "-----BEGIN "]

    /// Why a text that holds one is refused, without the text.
    package static let refusal =
        "is a private key, which must not be on the recorder: remove it, and give the public key "
        + "(age-keygen -y key.txt shows it)"

    /// Whether a text holds a private key, or what `age` calls an identity.
    package static func isIn(_ text: String) -> Bool {
        let capitals = text.uppercased()
        return starts.contains { capitals.contains($0) }
    }

    /// A reason for people; where somebody has put a private key into what is wrong, that it is one, and no more.
    package static func refusing(_ reason: String) -> String { isIn(reason) ? refusal : reason }

    /// A text for people, without whatever private key somebody has put into it.
    package static func hidden(in text: String) -> String { isIn(text) ? "(a private key)" : text }
}

/// Keys by which something is signed, as `minisign` has them.
package enum SigningKey {
    /// Whether a text has the form of a public one: 42 bytes in base64, whose first two say that it is one of Ed25519.
    package static func isPublic(_ text: String) -> Bool {
        text.hasPrefix("RW") && text.utf8.count == 56
            && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "+" || $0 == "/") }
    }
}
