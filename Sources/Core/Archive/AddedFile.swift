/// An audio file that was converted to a recording. The original and the recording wait in a separate folder beside the
/// recording folders until an archive adopts them.
package struct AddedFile: Hashable, Sendable, Codable {
    /// The part of the folder's name after `fieldscribe-`.
    package static let purpose = "adding"

    /// The name of the file in the folder that stores this description.
    package static let description = "added.json"

    /// The original file's name, without line breaks.
    package var name: String
    /// The SHA-256 of the original file.
    package var digest: String
    /// The original's name in the folder: `original.m4a`, or `audio.wav` if it already has a recording's format.
    package var kept: String
    /// Wall time of the first sample, in seconds since 1970.
    package var startedAt: Double
    /// `synchronized` if `startedAt` comes from the file itself.
    package var clock: RecordingSummary.Clock
    package var length: SamplePosition
    /// Why the recording ended, according to the header of a file that already has a recording's format.
    package var reason: StopReason
    /// The ranges that could not be read. They are silent in the recording.
    package var damage: [SampleRange]

    /// - Parameter startedAt: Seconds since 1970, clamped with `Double.asWallTime`.
    package init(
        name: String, digest: String, kept: String, startedAt: Double, clock: RecordingSummary.Clock,
        length: SamplePosition, reason: StopReason, damage: [SampleRange]
    ) {
        self.name = name
        self.digest = digest
        self.kept = kept
        self.startedAt = startedAt.asWallTime
        self.clock = clock
        self.length = length
        self.reason = reason
        self.damage = damage
    }

    /// The recording's `microphone`.
    package var source: String { Self.prefix + name }

    /// Replaces `source` once the recording is sealed, since a file name may contain a person's name.
    package static let sealedSource = "added"

    private static let prefix = "added: "

    /// Returns the error for a file that is already in the archive.
    package static func duplicateError(_ recording: Int, _ name: String) -> DeviceError {
        DeviceError(.busy, "add", on: name, "is already recording \(recording); it was not added again")
    }

    /// Returns whether a recording's `microphone` is the source of an added file.
    package static func isSource(_ microphone: String) -> Bool {
        microphone.hasPrefix(prefix) || microphone == sealedSource
    }

    /// Returns an added file's name without its extension; nil if the recording was not added or is sealed.
    package static func title(from microphone: String) -> String? {
        guard microphone.hasPrefix(prefix) else { return nil }
        let name = microphone.dropFirst(prefix.count)
        guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return String(name) }
        let suffix = name[dot...].dropFirst()
        // `3.5 hours at the mill` has no extension.
        let isExtension = suffix.utf8.count <= 8 && suffix.allSatisfy(\.isASCIIAlphanumeric)
        return String(isExtension ? name[..<dot] : name)
    }
}

extension Sequence<HistoryEntry> {
    /// Returns the ID of the recording that was made from a file; nil if there is none or it was erased.
    ///
    /// - Parameter digest: The file's SHA-256.
    package func recording(addedFrom digest: String) -> Int? {
        var recording: Int?
        for entry in self {
            if entry.act == .added, entry.digest == digest { recording = entry.recording }
            if entry.act == .erased, entry.recording == recording { recording = nil }
        }
        return recording
    }
}
