import Core
import Settings

/// The archive of the running appliance, accessed over its control socket. Each call has its own connection, since
/// the appliance disconnects silent clients and copying can take an hour.
package actor RemoteArchive: ArchiveReading, ExportLedger {
    private let configuration: Configuration
    private let directory: String

    /// - Parameter directory: the storage directory that the appliance must use.
    package init(_ configuration: Configuration, directory: String) {
        self.configuration = configuration
        self.directory = directory
    }

    /// Whether the appliance uses the storage directory. Throws `disconnected` if it is not running.
    package var isAvailable: Bool {
        get throws { try ask(.status).status?.directory == directory }
    }

    package func recordings() throws -> [RecordingSummary] { try ask(.list).recordings ?? [] }

    package func transcript(of recording: Int) throws -> (RecordingSummary, Timeline)? {
        try ask(.show(recording: recording)).transcript.map { ($0.summary, $0.timeline) }
    }

    package func transcript(of recording: Int, pass: Int) throws -> (RecordingSummary, Timeline)? {
        try ask(.show(recording: recording, pass: pass)).transcript.map { ($0.summary, $0.timeline) }
    }

    package func passes(of recording: Int) throws -> [PassSummary] {
        try ask(.passes(recording: recording)).passes ?? []
    }

    package func shownPass(of recording: Int) throws -> PassSummary? { try ask(.pass(recording: recording)).pass }

    package func search(_ words: String, limit: Int) throws -> [SearchHit] {
        try ask(.search(words: words, limit: limit)).hits ?? []
    }

    package func history(of recording: Int?) throws -> [HistoryLine] {
        try ask(.history(recording: recording)).history ?? []
    }

    /// Imports a file with corrections. Returns a line that describes the result.
    ///
    /// - Parameters:
    ///   - recording: the number of the recording, if the user gave it.
    ///   - siblingIdentity: the identity of the recording, from another file in the imported file's folder.
    package func importCorrections(
        _ text: String, name: String, recording: Int?, person: String, siblingIdentity: String?
    ) throws -> String {
        let client = try client()
        let token = String(UInt64.random(in: 1...UInt64.max), radix: 16)
        var response = ControlResponse()
        for (text, isLast) in ImportPart.chunks(of: text) {
            let part = ImportPart(
                token: token, name: name, text: String(text), isLast: isLast, person: person,
                siblingIdentity: siblingIdentity)
            response = try client.ask(.archive(.importing(part, recording: recording), directory: directory))
        }
        return response.notes?.first ?? ""
    }

    /// Adds a file that was prepared in a folder beside the recordings. Returns the number of the new recording.
    package func add(prepared folder: String) throws -> Int {
        let response = try ask(.adding(folder: folder))
        guard let recording = response.recording else {
            throw DeviceError(.failed, "add", "the appliance is running a different version; restart it")
        }
        return recording
    }

    /// Verifies these recordings; if the list is empty, all recordings and the database.
    ///
    /// - Parameter isQuick: whether to skip the audio.
    package func verify(_ recordings: [Int], isQuick: Bool = false) throws -> [StorageFinding] {
        try ask(.verify(recordings: recordings, isQuick: isQuick)).findings ?? []
    }

    /// Erases recordings. Returns notes for the user.
    package func delete(_ recordings: [Int]) throws -> [String] {
        try ask(.delete(recordings: recordings)).notes ?? []
    }

    /// Redacts a range of a recording. Returns the recording's number and notes for the user.
    package func redact(_ request: RedactionRequest) throws -> (recording: Int, notes: [String]) {
        let response = try ask(.redact(request))
        return (response.recording ?? 0, response.notes ?? [])
    }

    package func exports(to volume: String) throws -> [ExportEntry] {
        try ask(.exportsTo(volume: volume)).exports ?? []
    }

    package func exports(of recording: Int) throws -> [ExportEntry] {
        try ask(.exportsOf(recording: recording)).exports ?? []
    }

    package func add(_ entry: ExportEntry) throws { _ = try ask(.exported(entry)) }

    private func ask(_ request: ArchiveRequest) throws -> ControlResponse {
        try ask(.archive(request, directory: directory))
    }

    private func ask(_ request: ControlRequest) throws -> ControlResponse { try client().ask(request) }

    private func client() throws -> ControlClient {
        guard let client = try ControlClient(configuration) else {
            throw DeviceError(
                .disconnected, "connect", "the appliance is no longer running; start it and try again")
        }
        return client
    }
}
