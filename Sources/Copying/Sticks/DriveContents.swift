import Core

/// The actual or intended content of the drive for laptops. Stored in a text file beside the image.
package struct DriveContents: Hashable, Sendable {
    /// Whether the copies are encrypted. An image holds one kind only.
    package var isSealed: Bool

    /// A digest of the copy settings, in hexadecimal digits.
    var settings: String

    /// Whether everything was copied and verified. False while the image is being changed, and if a power cut
    /// interrupted the change.
    package var isFinished: Bool

    /// By recording ID, a mark that changes with the recording's length and its shown pass.
    package var marks: [Int: String]

    package init(isSealed: Bool, settings: String, isFinished: Bool = true, marks: [Int: String] = [:]) {
        self.isSealed = isSealed
        self.settings = settings
        self.isFinished = isFinished
        self.marks = marks
    }

    /// Returns a recording's mark.
    ///
    /// - Parameter pass: the shown pass; nil if there is no text.
    package static func mark(of recording: RecordingSummary, pass: PassSummary?) -> String {
        "\(recording.length.samples)-\(pass?.id ?? 0)-\(pass?.isComplete == true ? "complete" : "open")"
    }

    /// Returns the file's path in a storage directory.
    package static func path(in storage: String) -> String { "\(storage)/drive/contents" }

    private static let title = "fieldscribe-drive-1"

    package var text: String {
        let head =
            "\(Self.title) \(isSealed ? "sealed" : "clear") \(settings) \(isFinished ? "finished" : "unfinished")\n"
        return head + marks.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)\n" }.joined()
    }

    /// Parses the file's content. Nil if it is malformed.
    package init?(_ text: String) {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map {
            $0.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        }
        // If the last line does not end with a newline, the file was truncated.
        guard lines.popLast() == [""], let head = lines.first, head.count == 4, head[0] == Self.title,
            ["sealed", "clear"].contains(head[1]), ["finished", "unfinished"].contains(head[3])
        else { return nil }
        self.init(isSealed: head[1] == "sealed", settings: head[2], isFinished: head[3] == "finished")
        for line in lines.dropFirst() {
            guard line.count == 2, let recording = Int(line[0]), recording > 0 else { return nil }
            marks[recording] = line[1]
        }
    }
}

/// The next step for the drive.
package enum DriveStep: String, Sendable, CaseIterable {
    case current
    /// Copy new recordings or texts, or apply new settings, once no laptop uses the drive.
    case update
    /// Remove an erased recording immediately.
    case erase
    /// Make a new image immediately: there is none, its content is unknown, or it holds the other kind of copies.
    case remake
    /// Remove the image immediately: recordings need its space.
    case yield
    /// There is no space for an image.
    case full
}

/// The space on the card that recordings and the drive share, in bytes.
package struct DriveSpace: Hashable, Sendable {
    var free: Int64
    /// The image's size; 0 if there is no image.
    package var imageSize: Int64
    package var reserve: Int64

    package init(free: Int64, imageSize: Int64, reserve: Int64) {
        self.free = free
        self.imageSize = imageSize
        self.reserve = reserve
    }

    private static let bytesPerHour: Int64 = 3_600 * Int64(SamplePosition.rate) * 2

    /// The space that a full drive leaves for recordings: four hours.
    static let keptForRecordings = 4 * bytesPerHour
    /// The drive is removed when less than this is left for recordings: one hour.
    static let minimumForRecordings = bytesPerHour

    package var isShort: Bool { free - reserve < Self.minimumForRecordings }

    /// The maximum size of the image.
    package var budget: Int64 { max(0, free + imageSize - reserve - Self.keptForRecordings) }
}

extension DriveContents {
    /// Returns the next step toward this content.
    ///
    /// - Parameters:
    ///   - current: the image's current content; nil if there is no image or its content is unknown.
    ///   - existing: the IDs of all recordings in the archive.
    package func step(from current: DriveContents?, existing: Set<Int>, space: DriveSpace) -> DriveStep {
        if space.imageSize > 0, space.isShort { return .yield }
        guard let current, current.isSealed == isSealed else { return space.budget > 0 ? .remake : .full }
        if !current.marks.keys.allSatisfy(existing.contains) { return .erase }
        guard current.isFinished, current.settings == settings else { return .update }
        // Recordings that no longer fit stay until the next update.
        return marks.allSatisfy { current.marks[$0.key] == $0.value } ? .current : .update
    }

    /// Returns the newest recordings that fit in a budget of bytes, newest first.
    ///
    /// - Parameter bytes: returns the expected size of a recording's copy.
    package static func fitting(
        _ recordings: [RecordingSummary], in budget: Int64, bytes: (RecordingSummary) -> Int64
    ) -> [RecordingSummary] {
        var remaining = budget
        return recordings.sorted { $0.id > $1.id }.prefix { recording in
            remaining -= bytes(recording)
            return remaining >= 0
        }
    }
}

extension CopySettings {
    /// Estimates the size of a copy on the drive in bytes: for FLAC 60 % of the samples' size, 1 kB of text per second,
    /// and a cluster per file.
    package func expectedBytes(_ length: SamplePosition, channels: Int = 1) -> Int64 {
        let frame = 2 * Int64(channels)
        let audioBytes = audio == .wav ? length.samples * frame : length.samples * frame / 10 * 6
        let texts = length.samples / Int64(SamplePosition.rate) * 1_000
        return audioBytes + texts + Int64(formats.count + 4) * 65_536
    }
}
