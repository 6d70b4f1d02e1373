import Core
import System

/// What the drive that a laptop sees holds, or is to hold.
///
/// It is kept as a text beside the image, and tells whether something is new, or must go.
package struct DriveContents: Hashable, Sendable {
    /// Whether the copies are sealed. An image holds nothing but the one or the other.
    package var isSealed: Bool

    /// Of the settings that the copies were made by, in hexadecimal digits.
    var settings: String

    /// Whether all of it is there and was checked; else the image is being changed, or was when the power went.
    package var isFinished: Bool

    /// By the recordings' numbers, a mark that changes with their sound and with the pass that they are shown with.
    package var marks: [Int: String]

    package init(isSealed: Bool, settings: String, isFinished: Bool = true, marks: [Int: String] = [:]) {
        self.isSealed = isSealed
        self.settings = settings
        self.isFinished = isFinished
        self.marks = marks
    }

    /// - Parameter pass: what the recording is shown with; nil where it has no text.
    package static func mark(of recording: RecordingSummary, pass: PassSummary?) -> String {
        "\(recording.length.samples)-\(pass?.id ?? 0)-\(pass?.isComplete == true ? "complete" : "open")"
    }

    /// Where it is kept.
    ///
    /// - Parameter storage: the storage directory.
    package static func path(in storage: String) -> String { "\(storage)/drive/contents" }

    private static let title = "fieldscribe-drive-1"

    /// As it is kept.
    package var text: String {
        let head =
            "\(Self.title) \(isSealed ? "sealed" : "clear") \(settings) \(isFinished ? "finished" : "unfinished")\n"
        return head + marks.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)\n" }.joined()
    }

    /// Reads what was kept; nil for anything else.
    package init?(_ text: String) {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map {
            $0.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        }
        // The last line ends, too.
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

/// What is to be done about the drive now.
package enum DriveStep: String, Sendable, CaseIterable {
    /// It holds what it should.
    case current
    /// Something is new: it is copied when no laptop has the drive.
    case update
    /// Something that was erased is on it: it has to go at once.
    case erase
    /// What is there is of another kind, or nothing is: it is made from nothing, at once.
    case remake
    /// Recordings need the room that it takes: it goes at once.
    case yield
    /// There is no room for it.
    case full
}

/// The room on the card that recordings and drive share, in bytes.
package struct DriveRoom: Hashable, Sendable {
    /// What is free.
    var free: Int64
    /// What the image takes; 0 where there is none.
    package var held: Int64
    /// What recordings leave free themselves.
    package var reserve: Int64

    package init(free: Int64, held: Int64, reserve: Int64) {
        self.free = free
        self.held = held
        self.reserve = reserve
    }

    private static let hour: Int64 = 3_600 * Int64(SamplePosition.rate) * 2

    /// What the drive leaves to recordings when it is filled: four hours.
    static let kept = 4 * hour
    /// With less than an hour left to recordings, the drive gives way.
    static let least = hour

    /// Whether the drive has to give way.
    package var isShort: Bool { free - reserve < Self.least }

    /// What the drive may take in all.
    package var budget: Int64 { max(0, free + held - reserve - Self.kept) }
}

extension DriveContents {
    /// What is to be done, where this is what the drive is to hold.
    ///
    /// - Parameters:
    ///   - held: what the image holds; nil where there is none, or nothing is known of it.
    ///   - existing: the numbers of all recordings that the archive has.
    package func step(from held: DriveContents?, existing: Set<Int>, room: DriveRoom) -> DriveStep {
        if room.held > 0, room.isShort { return .yield }
        guard let held, held.isSealed == isSealed else { return room.budget > 0 ? .remake : .full }
        if !held.marks.keys.allSatisfy(existing.contains) { return .erase }
        guard held.isFinished, held.settings == settings else { return .update }
        // What only would have to go for want of room stays until something else is new.
        return marks.allSatisfy { held.marks[$0.key] == $0.value } ? .current : .update
    }

    /// The newest recordings that fit, newest first.
    ///
    /// - Parameter bytes: what a copy of one is expected to take.
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
    /// What a copy is expected to take on a drive, in bytes: a FLAC of speech half of its samples, the texts 1 kB a second, and each
    /// file a cluster.
    ///
    /// - Parameter channels: of the recording.
    package func expectedBytes(_ length: SamplePosition, channels: Int = 1) -> Int64 {
        let frame = 2 * Int64(channels)
        let sound = audio == .wav ? length.samples * frame : length.samples * frame / 10 * 6
        let texts = length.samples / Int64(SamplePosition.rate) * 1_000
        return sound + texts + Int64(formats.count + 4) * 65_536
    }
}
