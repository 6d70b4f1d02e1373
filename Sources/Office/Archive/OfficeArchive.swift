import Core

/// An archive with recordings from many recorders. Used on one thread. Methods that change the archive return when the
/// change is durable. All methods throw `DeviceError` with the archive's name.
package protocol OfficeArchive: AnyObject {
    /// The folder, or the database's address without its password.
    var name: String { get }

    /// The path of the folder with the copies.
    var filesPath: String { get }

    /// Returns those of `digests` whose copies are in the archive.
    ///
    /// - Parameter digests: the digests of copies' SHA256SUMS.
    func existingCopies(among digests: [String]) throws(DeviceError) -> Set<String>

    /// Returns the digest of SHA256SUMS for the copy in a sealed file; nil if no such file was added.
    ///
    /// - Parameter digest: the digest of the sealed file.
    func copyDigest(ofSealed digest: String) throws(DeviceError) -> String?

    /// Records that a copy in the archive was also in a sealed file.
    ///
    /// - Parameters:
    ///   - digest: the digest of the sealed file.
    ///   - copy: the digest of the copy's SHA256SUMS.
    func setSealedDigest(_ digest: String, of copy: String) throws(DeviceError)

    /// Returns the recorder with this identity. Adds the recorder if it is new.
    func recorder(_ identity: RecorderIdentity) throws(DeviceError) -> Recorder

    /// Adds all of these copies or none. Ignores copies that are already in the archive.
    func add(_ copies: [GatheredCopy]) throws(DeviceError)

    /// Adds a transcript to a recording. Ignores a transcript that is already in the archive.
    ///
    /// - Returns: whether the transcript was new.
    func add(_ transcript: GatheredTranscript, of recording: Int) throws(DeviceError) -> Bool

    /// Returns the recordings that match a filter, the earliest first.
    func recordings(_ filter: OfficeFilter) throws(DeviceError) -> [OfficeRecording]

    /// Returns at most `limit` recordings on a page of the list, the latest first.
    func recordings(
        _ filter: OfficeFilter, from cursor: OfficePageCursor, limit: Int
    ) throws(DeviceError) -> [OfficeRecording]

    /// Returns the number of recordings that match a filter.
    func count(_ filter: OfficeFilter) throws(DeviceError) -> Int

    /// Returns the recording with this ID.
    func recording(_ id: Int) throws(DeviceError) -> OfficeRecording?

    /// Returns the recording of the copy with this digest of SHA256SUMS.
    func recording(ofCopy digest: String) throws(DeviceError) -> OfficeRecording?

    /// Returns the digests of SHA256SUMS for a recording's copies, the earliest first.
    func copies(of recording: Int) throws(DeviceError) -> [String]

    /// Returns, for each copy, the folders of existing copies with the same recorder and recording number, relative to
    /// `filesPath`. The copy that was added last comes first.
    func siblingFolders(of copies: [GatheredCopy]) throws(DeviceError) -> [[String]]

    /// Returns the recorder of the recording whose first history line has this digest.
    func recorder(ofRoot root: String) throws(DeviceError) -> Recorder?

    /// Returns the recording with this digest of its samples and this number on its recorder.
    func recording(withSamples digest: String, number: Int) throws(DeviceError) -> OfficeRecording?

    /// Returns the sorted folders, relative to `filesPath`, of copies that contain passages redacted later.
    func outdatedFolders() throws(DeviceError) -> [String]

    /// Returns the digest of a recording's samples, which identifies it in corrections; nil if no copy contains it.
    func samplesDigest(of recording: Int) throws(DeviceError) -> String?

    /// Returns all transcripts of a recording, the shown one first.
    func transcripts(of recording: Int) throws(DeviceError) -> [OfficeTranscript]

    /// Returns the timeline of the transcript with this ID.
    func timeline(ofTranscript id: Int) throws(DeviceError) -> Timeline?

    /// Returns the beginnings of the shown transcripts, by recording ID. Recordings without words are left out.
    func beginnings(of recordings: [Int]) throws(DeviceError) -> [Int: String]

    /// Returns the history of a recording, merged from all its copies.
    func history(of recording: Int) throws(DeviceError) -> [HistoryLine]

    /// Returns words in the archive that are spelled like `word`, the most similar first; may include `word`.
    ///
    /// - Parameter word: a word of letters and digits, in lower case.
    func similarWords(to word: String, limit: Int) throws(DeviceError) -> [String]

    /// Returns the lines with these words, the best matches first; if the words are very common, the lines that were
    /// added last come first.
    func search(_ query: OfficeQuery, _ filter: OfficeFilter, limit: Int) throws(DeviceError) -> [OfficeHit]
}

extension OfficeArchive {
    /// Returns a recording's shown timeline.
    package func shownTimeline(of recording: Int) throws(DeviceError) -> Timeline? {
        guard let shown = try transcripts(of: recording).first else { return nil }
        return try timeline(ofTranscript: shown.id)
    }
}

extension OfficeQuery {
    /// Extends the search to words in the archive that are spelled like the typed words, because names are often
    /// misrecognized.
    ///
    /// - Returns: a line for each typed word that has such words, for example `fonio, or phonio, fono`.
    package mutating func addSimilarWords(in archive: any OfficeArchive) throws(DeviceError) -> [String] {
        var lines: [String] = []
        for token in Set(words.filter { $0.count == 1 }.map { $0[0] }).sorted() where token.count > 2 {
            let similar = try archive.similarWords(to: token, limit: 12).filter { $0 != token }
            if similar.isEmpty { continue }
            similarWords[token] = similar
            lines.append("\(token), or \(similar.joined(separator: ", "))")
        }
        return lines
    }
}

/// Selects recordings. Properties that are nil match all recordings.
package struct OfficeFilter: Hashable, Sendable {
    /// A recorder's name or folder, or the beginning of its folder, key or machine ID.
    package var recorder: String?
    /// Matches recordings that started at this time or later, in seconds since 1970-01-01T00:00:00Z.
    package var since: Double?
    /// Matches recordings that started before this time, in seconds since 1970-01-01T00:00:00Z.
    package var until: Double?
    /// Part of the name of a participant or speaker.
    package var person: String?
    /// A speaker's name, or a label such as `A`.
    package var speaker: String?

    /// Creates a filter that matches all recordings.
    package init() {}
}

/// A recording in an archive, without its transcripts.
package struct OfficeRecording: Hashable, Sendable {
    package var id: Int
    package var recorder: Recorder
    /// The recording's number on its recorder.
    package var number: Int
    /// The start, in seconds since 1970-01-01T00:00:00Z.
    package var startedAt: Double
    package var clock: RecordingSummary.Clock
    package var length: SamplePosition
    package var title: String
    package var people: String
    /// The folder of the copy that is shown and played, relative to the archive's folder of copies; empty if none.
    package var copyFolder: String
    package var audioName: String
    package var transcriptCount: Int

    /// The last component of `copyFolder`; the recording's number if there is no copy.
    var folderName: String { copyFolder.split(separator: "/").last.map(String.init) ?? "\(number)" }
}

/// A transcript of a recording by an engine or a person, without the text.
package struct OfficeTranscript: Hashable, Sendable {
    package var id: Int
    /// The engine's name; `person` for a corrected transcript.
    package var engine: String
    /// The person who corrected the transcript; empty if unknown, nil for an engine's transcript.
    package var person: String?
    /// When the transcript was made, in seconds since 1970-01-01T00:00:00Z; 0 if unknown.
    package var madeAt: Double
    /// Identifies the transcript across archives.
    var digest: String
}

/// A line that a search found.
package struct OfficeHit: Hashable, Sendable {
    package var recording: Int
    /// The name of the recorder's folder.
    package var recorder: String
    package var startedAt: Double
    package var line: SpokenLine
    /// The text around the first match, with matching words between `start` and `end`.
    var marked: String

    /// Private-use characters around matching words, because a transcript may contain brackets, as in `[laughs]`.
    static let (start, end): (Character, Character) = ("\u{E000}", "\u{E001}")

    /// The text around the first match, with matching words between `[` and `]`; for a bookmark, after `[mark]`.
    package var excerpt: String {
        let text = String(marked.map { $0 == Self.start ? "[" : $0 == Self.end ? "]" : $0 })
        return line.segment == 0 ? "[mark] \(text)" : text
    }
}
