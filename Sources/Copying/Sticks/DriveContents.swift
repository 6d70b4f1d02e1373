import Core

/// The content that the drive for laptops has, or should have. Stored as a text beside the image.
package struct DriveContents: Hashable, Sendable {
    /// Whether the copies are encrypted. An image holds one kind only.
    package var isSealed: Bool

    /// A digest of the copies' settings, in hexadecimal digits.
    var settings: String

    /// Whether everything was copied and verified; false while the image is being changed, and after a power cut during
    /// that.
    package var isFinished: Bool

    /// By recording, a mark that changes with its sound and its shown pass.
    package var marks: [Int: String]

    package init(isSealed: Bool, settings: String, isFinished: Bool = true, marks: [Int: String] = [:]) {
        self.isSealed = isSealed
        self.settings = settings
        self.isFinished = isFinished
        self.marks = marks
    }

    /// Returns a recording's mark.
    ///
    /// - Parameter pass: the shown pass; nil without text.
    package static func mark(of recording: RecordingSummary, pass: PassSummary?) -> String {
        "\(recording.length.samples)-\(pass?.id ?? 0)-\(pass?.isComplete == true ? "complete" : "open")"
    }

    /// Returns the file's path in a storage directory.
    package static func path(in storage: String) -> String { "\(storage)/drive/contents" }

    private static let title = "fieldscribe-drive-1"

    /// The file's content.
    package var text: String {
        let head =
            "\(Self.title) \(isSealed ? "sealed" : "clear") \(settings) \(isFinished ? "finished" : "unfinished")\n"
        return head + marks.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)\n" }.joined()
    }

    /// Parses the file's content; nil for anything else.
    package init?(_ text: String) {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map {
            $0.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        }
        // The last line has to end with a newline.
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
    /// Nothing has changed.
    case current
    /// Copy something new once no laptop uses the drive.
    case update
    /// Remove an erased recording immediately.
    case erase
    /// Make a new image immediately: there is none, or one of the other kind.
    case remake
    /// Remove the image immediately: recordings need its space.
    case yield
    /// There is no space for it.
    case full
}

/// The space on the card that recordings and drive share, in bytes.
package struct DriveRoom: Hashable, Sendable {
    var free: Int64
    /// The image's size; 0 without one.
    package var held: Int64
    /// The reserve that recordings leave free.
    package var reserve: Int64

    package init(free: Int64, held: Int64, reserve: Int64) {
        self.free = free
        self.held = held
        self.reserve = reserve
    }

    private static let hour: Int64 = 3_600 * Int64(SamplePosition.rate) * 2

    /// The space that a full drive leaves for recordings: four hours.
    static let kept = 4 * hour
    /// If recordings have less than this hour, the drive is removed.
    static let least = hour

    /// Whether the drive has to be removed.
    package var isShort: Bool { free - reserve < Self.least }

    /// The image's largest size.
    package var budget: Int64 { max(0, free + held - reserve - Self.kept) }
}

extension DriveContents {
    /// Returns the next step towards this content.
    ///
    /// - Parameters:
    ///   - held: the image's content; nil without an image, or if it is unknown.
    ///   - existing: the numbers of all recordings in the archive.
    package func step(from held: DriveContents?, existing: Set<Int>, room: DriveRoom) -> DriveStep {
        if room.held > 0, room.isShort { return .yield }
        guard let held, held.isSealed == isSealed else { return room.budget > 0 ? .remake : .full }
        if !held.marks.keys.allSatisfy(existing.contains) { return .erase }
        guard held.isFinished, held.settings == settings else { return .update }
        // Recordings that no longer fit stay until something new is copied.
        return marks.allSatisfy { held.marks[$0.key] == $0.value } ? .current : .update
    }

    /// Returns the newest recordings that fit, newest first.
    ///
    /// - Parameter bytes: returns the expected size of a copy.
    package static func fitting(
        _ recordings: [RecordingSummary], in budget: Int64, bytes: (RecordingSummary) -> Int64
    ) -> [RecordingSummary] {
        var left = budget
        return recordings.sorted { $0.id > $1.id }.prefix { recording in
            left -= bytes(recording)
            return left >= 0
        }
    }
}

extension CopySettings {
    /// Estimates a copy's bytes on a drive: 60 % of the samples for FLAC, 1 kB of text per second, and a cluster for each file.
    package func expectedBytes(_ length: SamplePosition, channels: Int = 1) -> Int64 {
        let frame = 2 * Int64(channels)
        let sound = audio == .wav ? length.samples * frame : length.samples * frame / 10 * 6
        let texts = length.samples / Int64(SamplePosition.rate) * 1_000
        return sound + texts + Int64(formats.count + 4) * 65_536
    }
}
