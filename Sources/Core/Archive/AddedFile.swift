/// A file from elsewhere whose sound is prepared as a recording. Both wait in a folder of their own beside the
/// recordings' folders until an archive adopts them.
package struct AddedFile: Hashable, Sendable, Codable {
    /// The purpose in the folder's name, after `fieldscribe-`.
    package static let purpose = "adding"

    /// The name of this description's file in the folder.
    package static let description = "added.json"

    /// The file's name, on one line.
    package var name: String
    /// The SHA-256 of the original file.
    package var digest: String
    /// The name under which it is kept: `original.m4a`, or `audio.wav` if it is exactly what a recording is.
    package var kept: String
    /// Wall time of the first sample, in seconds since 1970.
    package var startedAt: Double
    /// Whether `startedAt` is from the file itself.
    package var clock: RecordingSummary.Clock
    package var length: SamplePosition
    /// Why the sound ends, as its header says.
    package var reason: StopReason
    /// What could not be read; silence in the sound.
    package var damage: [SampleRange]

    /// - Parameter startedAt: Seconds since 1970, clamped as by `Double.asWallTime`.
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

    /// The replacement of `source` once the recording is sealed: a file name may contain a person's name.
    package static let sealedSource = "added"

    private static let prefix = "added: "

    /// The error for a file that is in the archive already.
    package static func known(_ recording: Int, _ name: String) -> DeviceError {
        DeviceError(.busy, "add", on: name, "already is recording \(recording), and was not added again")
    }

    /// Whether a recording's `microphone` says that the recording is an added file.
    package static func isSource(_ microphone: String) -> Bool {
        microphone.hasPrefix(prefix) || microphone == sealedSource
    }

    /// Returns the title of a recording that was added: the file's name without its extension; nil for other
    /// recordings.
    package static func title(from microphone: String) -> String? {
        guard microphone.hasPrefix(prefix) else { return nil }
        let name = microphone.dropFirst(prefix.count)
        guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return String(name) }
        let ending = name[dot...].dropFirst()
        // `3.5 hours at the mill` has none.
        let isEnding = ending.utf8.count <= 8 && ending.allSatisfy(\.isASCIIAlphanumeric)
        return String(isEnding ? name[..<dot] : name)
    }
}

extension Sequence<HistoryEntry> {
    /// Returns the existing recording that was made from a file.
    ///
    /// - Parameter digest: The file's SHA-256.
    package func recording(addedFrom digest: String) -> Int? {
        var known: Int?
        for entry in self {
            if entry.act == .added, entry.digest == digest { known = entry.recording }
            if entry.act == .erased, entry.recording == known { known = nil }
        }
        return known
    }
}
