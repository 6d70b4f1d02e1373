import Core
import Platform
import SQLiteArchive

/// The archive of the appliance that is running, through its socket.
package actor RemoteArchive: ArchiveReading, ExportLedger {
    private let client: ControlClient
    private let directory: String

    package init(_ client: sending ControlClient, directory: String) {
        self.client = client
        self.directory = directory
    }

    /// Whether the appliance keeps its archive in that folder.
    package var answers: Bool {
        get throws { try client.ask(ControlRequest(.status)).status?.directory == directory }
    }

    package func recordings() throws -> [RecordingSummary] { try client.ask(request(.list)).recordings ?? [] }

    package func transcript(of recording: Int) throws -> (RecordingSummary, Timeline)? {
        var request = request(.show)
        request.recording = recording
        return try client.ask(request).transcript.map { ($0.summary, $0.timeline) }
    }

    package func shownPass(of recording: Int) throws -> PassSummary? {
        var request = request(.pass)
        request.recording = recording
        return try client.ask(request).pass
    }

    package func search(_ words: String, limit: Int) throws -> [SearchHit] {
        var request = request(.search)
        request.words = words
        request.limit = limit
        return try client.ask(request).hits ?? []
    }

    /// Checks recordings; without numbers all, and the database as a whole.
    package func verify(_ recordings: [Int]) throws -> [StorageFinding] {
        var request = request(.verify)
        request.recordings = recordings
        return try client.ask(request).findings ?? []
    }

    /// Erases recordings; returns what a person should know besides.
    package func delete(_ recordings: [Int]) throws -> [String] {
        var request = request(.delete)
        request.recordings = recordings
        return try client.ask(request).notes ?? []
    }

    package func exports(to volume: String) throws -> [ExportEntry] {
        var request = request(.exports)
        request.volume = volume
        return try client.ask(request).exports ?? []
    }

    package func exports(of recording: Int) throws -> [ExportEntry] {
        var request = request(.exports)
        request.recording = recording
        return try client.ask(request).exports ?? []
    }

    package func add(_ entry: ExportEntry) throws {
        var request = request(.exported)
        request.entry = entry
        _ = try client.ask(request)
    }

    private func request(_ command: ControlRequest.Command) -> ControlRequest {
        var request = ControlRequest(command)
        request.directory = directory
        return request
    }
}
