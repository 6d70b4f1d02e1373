import Core

/// The name of one recording's encrypted copy: `000007.fieldscribe.age`, then `000007_2.fieldscribe.age`. It reveals only the number.
package struct SealedName: Hashable, CopyNaming {
    private static let ending = ".fieldscribe.age"

    var recording: Int
    var copyNumber = 1

    init(_ recording: Int) { self.recording = recording }

    var text: String {
        recording.padded(to: 6) + (copyNumber > 1 ? "_\(copyNumber)" : "") + Self.ending
    }

    /// Parses a name; nil unless it is exactly one that Fieldscribe writes.
    package init?(_ text: String) {
        guard text.hasSuffix(Self.ending) else { return nil }
        let fields = text.dropLast(Self.ending.count).split(separator: "_", omittingEmptySubsequences: false)
        guard let first = fields.first, fields.count <= 2, let recording = Int(first), recording > 0 else { return nil }
        self.recording = recording
        if fields.count == 2 {
            guard let copyNumber = Int(fields[1]), (2...CopyName.largestCopyNumber).contains(copyNumber) else {
                return nil
            }
            self.copyNumber = copyNumber
        }
        guard self.text == text else { return nil }
    }
}
