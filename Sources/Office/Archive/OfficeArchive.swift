import Core

/// The port for an archive of many recorders. One thread uses it; every method returns once its change is durable.
///
/// All methods throw `DeviceError` in one line that names the archive.
package protocol OfficeArchive: AnyObject {
    /// What errors name, and nothing secret: a folder, or a database's address without its password.
    var name: String { get }

    /// The folder with the files that rows name.
    var files: String { get }

    /// Which of these copies it has, by the digests of their SHA256SUMS.
    func known(copies digests: [String]) throws(DeviceError) -> Set<String>

    /// The copy that a sealed file was opened to, by that file's digest: the digest of its SHA256SUMS; nil where it was not opened yet.
    func known(sealed digest: String) throws(DeviceError) -> String?

    /// Enters that a copy which it has was in a sealed file, too, by that file's digest and that of its SHA256SUMS.
    func enter(sealed digest: String, of copy: String) throws(DeviceError)

    /// The recorder that a copy comes from; one that is new is entered.
    func recorder(_ identity: RecorderIdentity) throws(DeviceError) -> Recorder

    /// Takes copies, with all that they tell: all of them or none. What it has already changes nothing.
    func take(_ copies: [GatheredCopy]) throws(DeviceError)

    /// Takes what a person has put right in a recording; what it has already changes nothing.
    ///
    /// - Returns: whether it was new.
    func take(_ reading: GatheredReading, of recording: Int) throws(DeviceError) -> Bool

    /// The recordings that a filter leaves, the earliest first.
    func recordings(_ filter: OfficeFilter) throws(DeviceError) -> [OfficeRecording]

    /// At most so many of those that a filter leaves, from a place in their order on; the latest first.
    func recordings(_ filter: OfficeFilter, from place: OfficePlace, limit: Int) throws(DeviceError)
        -> [OfficeRecording]

    /// How many recordings a filter leaves.
    func count(_ filter: OfficeFilter) throws(DeviceError) -> Int

    /// One recording by its number in this archive; nil where it has none of it.
    func recording(_ id: Int) throws(DeviceError) -> OfficeRecording?

    /// The recording that a copy is of; nil where it does not have that.
    func recording(ofCopy digest: String) throws(DeviceError) -> OfficeRecording?

    /// The copies of a recording, by the digests of their SHA256SUMS, the earliest first.
    func copies(of recording: Int) throws(DeviceError) -> [String]

    /// The folders of the copies that it has of the same recordings as these, for each of them; relative to the archive's files, the latest
    /// first.
    func places(of copies: [GatheredCopy]) throws(DeviceError) -> [[String]]

    /// The recorder of the recording whose history begins like this, by the digest of that line; nil where there is none.
    func recorder(ofRoot root: String) throws(DeviceError) -> Recorder?

    /// The recording of a sound, by its digest and its number on the recorder; nil where it has none.
    func recording(ofSound digest: String, number: Int) throws(DeviceError) -> OfficeRecording?

    /// The folders of copies that have what was struck from their recordings later, relative to the archive's files; sorted.
    func outdated() throws(DeviceError) -> [String]

    /// The digest of a recording's sound, by which corrections name it; nil where none of its copies tells.
    func sound(of recording: Int) throws(DeviceError) -> String?

    /// All texts of a recording, the one that is shown first.
    func readings(of recording: Int) throws(DeviceError) -> [OfficeReading]

    /// The text of a reading; nil where there is none of this number.
    func timeline(ofReading id: Int) throws(DeviceError) -> Timeline?

    /// What was done to a recording, as its copies tell it.
    func history(of recording: Int) throws(DeviceError) -> [HistoryLine]

    /// Words that were said and are written like this one, the most alike first; itself may be among them.
    ///
    /// - Parameter word: letters and digits in lower case.
    func alike(_ word: String, limit: Int) throws(DeviceError) -> [String]

    /// Where the words are said, best match first, or, where they are too common for that, newest first.
    func search(_ query: OfficeQuery, _ filter: OfficeFilter, limit: Int) throws(DeviceError) -> [OfficeHit]
}

extension OfficeArchive {
    /// The text that a recording is shown with; nil where it has none.
    package func shownTimeline(of recording: Int) throws(DeviceError) -> Timeline? {
        guard let shown = try readings(of: recording).first else { return nil }
        return try timeline(ofReading: shown.id)
    }
}

extension OfficeQuery {
    /// Adds words that are spelled like the ones that were typed, since names are often recognized wrong.
    ///
    /// - Returns: for each such word one line: `fonio, or phonio, fono`.
    package mutating func addSimilarWords(in archive: any OfficeArchive) throws(DeviceError) -> [String] {
        var lines: [String] = []
        for token in Set(words.filter { $0.count == 1 }.map { $0[0] }).sorted() where token.count > 2 {
            let similar = try archive.alike(token, limit: 12).filter { $0 != token }
            if similar.isEmpty { continue }
            alike[token] = similar
            lines.append("\(token), or \(similar.joined(separator: ", "))")
        }
        return lines
    }
}

/// Which recordings are asked for; nil leaves any.
package struct OfficeFilter: Hashable, Sendable {
    /// A recorder's name, folder or key.
    package var recorder: String?
    /// Begun at this time or later, in seconds since 1970-01-01T00:00:00Z.
    package var since: Double?
    /// Begun before this time.
    package var until: Double?
    /// Somebody who takes part or speaks, or a part of that name.
    package var person: String?
    /// Who says it: a name, or a label such as `A`.
    package var speaker: String?

    /// Any recording.
    package init() {}
}

/// What an archive knows of one recording, without its text.
package struct OfficeRecording: Hashable, Sendable {
    /// Its number in this archive.
    package var id: Int
    /// The recorder that made it.
    package var recorder: Recorder
    /// Its number there.
    package var number: Int
    /// When it began, in seconds since 1970-01-01T00:00:00Z.
    package var startedAt: Double
    /// Whether that can be believed.
    package var clock: RecordingSummary.Clock
    /// How much sound there is.
    package var length: SamplePosition
    /// What a person has called it; may be empty.
    package var title: String
    /// Who takes part, as people wrote it; may be empty.
    package var people: String
    /// The folder of the copy that is shown and played, relative to the archive's files.
    package var place: String
    /// The name of the sound in that; empty where it has none.
    package var audio: String
    /// How many texts there are of it.
    package var readings: Int
}

/// What an archive knows of one text, without the text.
package struct OfficeReading: Hashable, Sendable {
    /// Its number in this archive.
    package var id: Int
    /// Which engine wrote it; `person` where somebody has put it right.
    package var engine: String
    /// Who that was; nil for an engine's.
    package var person: String?
    /// When it was written, in seconds since 1970-01-01T00:00:00Z; 0 where that is not known.
    package var madeAt: Double
    /// By which it is known again, in another archive, too.
    var digest: String
}

/// A place where words were said.
package struct OfficeHit: Hashable, Sendable {
    /// The recording's number in the archive.
    package var recording: Int
    /// The recorder's folder name.
    package var recorder: String
    /// When the recording began, in seconds since 1970-01-01T00:00:00Z.
    package var startedAt: Double
    /// What was found.
    package var line: SpokenLine
    /// The text around the first match with the matching words between `[` and `]`.
    package var excerpt: String
}
