import Core
import Platform
import SQLiteArchive

/// What commands read of the archive, whoever owns it.
package protocol ArchiveReading: Sendable {
    /// All recordings, oldest first.
    func recordings() async throws -> [RecordingSummary]

    /// One recording with the text of its best pass, or nil where there is none of that number.
    func transcript(of recording: Int) async throws -> (RecordingSummary, Timeline)?

    /// Segments that contain all of the words, best match first.
    func search(_ words: String, limit: Int) async throws -> [SearchHit]
}

extension SQLiteArchive: ArchiveReading {}

/// The archive of the appliance that is running, through its socket.
package actor RemoteArchive: ArchiveReading {
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

    package func search(_ words: String, limit: Int) throws -> [SearchHit] {
        var request = request(.search)
        request.words = words
        request.limit = limit
        return try client.ask(request).hits ?? []
    }

    private func request(_ command: ControlRequest.Command) -> ControlRequest {
        var request = ControlRequest(command)
        request.directory = directory
        return request
    }
}
