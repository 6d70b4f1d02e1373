import Core

/// The name of the folder with a recording's copy: `000007_2026-11-20_09-30-12` or `000007_clock-unverified`. The names
/// of later copies end in `_2` and so on. Valid on FAT; no two names differ only in case.
package struct CopyName: Hashable, CopyNaming {
    package var recording: Int

    /// The start in the recorder's time zone, such as `2026-11-20_09-30-12`; nil if the clock was unverified.
    package private(set) var time: String?

    var copyNumber = 1

    init(_ summary: RecordingSummary) {
        recording = summary.id
        time = summary.clock == .synchronized ? WallTime(summary.startedAt).fileName : nil
    }

    package var text: String {
        "\(recording.padded(to: 6))_\(time ?? Self.unverified)" + (copyNumber > 1 ? "_\(copyNumber)" : "")
    }

    /// Parses a name; nil unless it is exactly as Fieldscribe writes it.
    package init?(_ text: String) {
        let fields = text.split(separator: "_", omittingEmptySubsequences: false).map(String.init)
        guard let recording = fields.first.flatMap({ Int($0) }), recording > 0 else { return nil }
        self.recording = recording
        var rest = fields.dropFirst()
        if rest.first == Self.unverified {
            rest = rest.dropFirst()
        } else {
            let time = rest.prefix(2).joined(separator: "_")
            let pattern = time.map { $0.isASCII && $0.isNumber ? "0" : $0 }
            guard String(pattern) == "0000-00-00_00-00-00" else { return nil }
            self.time = time
            rest = rest.dropFirst(2)
        }
        if let last = rest.first {
            guard rest.count == 1, let copyNumber = Int(last), (2...Self.maximumCopyNumber).contains(copyNumber) else {
                return nil
            }
            self.copyNumber = copyNumber
        }
        // Rejects signs and a different number of leading zeros, which `Int` accepts.
        guard self.text == text else { return nil }
    }

    /// Returns whether a folder has the name of an incomplete copy, such as `partial` or `partial-2`.
    package static func isTemporary(_ name: String) -> Bool {
        name == "partial" || (name.hasPrefix("partial-") && Int(name.dropFirst("partial-".count)) != nil)
    }

    var title: String {
        guard let time else { return "Recording \(recording)" }
        let numbers = time.split { $0 == "-" || $0 == "_" }.map(String.init)
        guard let month = Int(numbers[1]), (1...12).contains(month), let day = Int(numbers[2]) else { return time }
        return "\(day) \(WallTime.months[month - 1]) \(numbers[0]), \(numbers[3]):\(numbers[4])"
    }

    /// A folder with a higher copy number is not a copy.
    static let maximumCopyNumber = 1_000_000
    private static let unverified = "clock-unverified"
}

/// The name of a recorder's folder on a stick: lowercase letters, digits and hyphens, at most 44 characters.
package struct DeviceName: Hashable, Sendable {
    package let text: String

    /// Derives a valid name from any text, such as the host name. Keeps at most 32 characters.
    package init(madeOf text: String) {
        var name = ""
        for byte in text.utf8 where name.utf8.count < 32 {
            let lowercase = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte + 32 : byte
            if Self.isAllowed(lowercase) {
                name.unicodeScalars.append(UnicodeScalar(lowercase))
            } else if !name.isEmpty, name.last != "-" {
                name += "-"
            }
        }
        while name.last == "-" { name.removeLast() }
        while name.first == "-" { name.removeFirst() }
        if name.isEmpty { name = "fieldscribe" }
        // DOS reserves these for devices.
        let reserved = ["con", "prn", "aux", "nul"] + (0...9).flatMap { ["com\($0)", "lpt\($0)"] }
        self.text = reserved.contains(name) ? "fieldscribe-\(name)" : name
    }

    /// Parses a name; nil if it is empty, too long, or has other characters.
    init?(_ text: String) {
        guard !text.isEmpty, text.utf8.count <= 44, text.utf8.allSatisfy(Self.isAllowed) else { return nil }
        self.text = text
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || byte.isASCIIDigit
            || byte == UInt8(ascii: "-")
    }
}

/// The name of a recording's encrypted copy: `000007.fieldscribe.age`, then `000007_2.fieldscribe.age`. Reveals only
/// the recording's number.
package struct SealedName: Hashable, CopyNaming {
    private static let ending = ".fieldscribe.age"

    var recording: Int
    var copyNumber = 1

    init(_ recording: Int) { self.recording = recording }

    var text: String {
        recording.padded(to: 6) + (copyNumber > 1 ? "_\(copyNumber)" : "") + Self.ending
    }

    /// Parses a name; nil unless it is exactly as Fieldscribe writes it.
    package init?(_ text: String) {
        guard text.hasSuffix(Self.ending) else { return nil }
        let fields = text.dropLast(Self.ending.count).split(separator: "_", omittingEmptySubsequences: false)
        guard let first = fields.first, fields.count <= 2, let recording = Int(first), recording > 0 else { return nil }
        self.recording = recording
        if fields.count == 2 {
            guard let copyNumber = Int(fields[1]), (2...CopyName.maximumCopyNumber).contains(copyNumber) else {
                return nil
            }
            self.copyNumber = copyNumber
        }
        guard self.text == text else { return nil }
    }
}
