import Configuration
import Core

/// The archive of the appliance that is running, through its socket.
///
/// Each request has a connection of its own: the appliance drops clients that are silent, as one is that copies for an hour.
package actor RemoteArchive: ArchiveReading, ExportLedger {
    private let configuration: Configuration
    private let directory: String

    /// - Parameter configuration: names the socket.
    package init(_ configuration: Configuration, directory: String) {
        self.configuration = configuration
        self.directory = directory
    }

    /// Whether the appliance keeps its archive in that folder.
    package var answers: Bool {
        get throws { try ask(ControlRequest(.status)).status?.directory == directory }
    }

    package func recordings() throws -> [RecordingSummary] { try ask(request(.list)).recordings ?? [] }

    package func transcript(of recording: Int) throws -> (RecordingSummary, Timeline)? {
        var request = request(.show)
        request.recording = recording
        return try ask(request).transcript.map { ($0.summary, $0.timeline) }
    }

    package func transcript(of recording: Int, pass: Int) throws -> (RecordingSummary, Timeline)? {
        var request = request(.show)
        request.recording = recording
        request.pass = pass
        return try ask(request).transcript.map { ($0.summary, $0.timeline) }
    }

    package func passes(of recording: Int) throws -> [PassSummary] {
        var request = request(.passes)
        request.recording = recording
        return try ask(request).passes ?? []
    }

    package func shownPass(of recording: Int) throws -> PassSummary? {
        var request = request(.pass)
        request.recording = recording
        return try ask(request).pass
    }

    package func search(_ words: String, limit: Int) throws -> [SearchHit] {
        var request = request(.search)
        request.words = words
        request.limit = limit
        return try ask(request).hits ?? []
    }

    /// Has the appliance take a file that people have corrected; returns what became of it, in one line.
    ///
    /// - Parameters:
    ///   - recording: which recording it is of, where a person says so.
    ///   - neighbour: what the files beside it say of that.
    package func take(
        _ text: String, name: String, recording: Int?, person: String, neighbour: String?
    ) throws -> String {
        guard let client = try ControlClient(configuration) else {
            throw DeviceError(
                .disconnected, "connect", "the appliance has stopped in the meantime; start it and try again")
        }
        let token = String(UInt64.random(in: 1...UInt64.max), radix: 16)
        var rest = text[...]
        while true {
            var part = rest.prefix(ImportPart.longest)
            while part.utf8.count > ImportPart.longest, part.count > 1 { part = part.prefix(part.count / 2) }
            rest = rest[part.endIndex...]
            var request = request(.importing)
            request.recording = recording
            request.part = ImportPart(
                token: token, name: name, text: String(part), isLast: rest.isEmpty, person: person,
                neighbour: neighbour)
            let response = try client.ask(request)
            if rest.isEmpty { return response.notes?.first ?? "" }
        }
    }

    /// Checks recordings; without numbers all, and the database as a whole.
    ///
    /// - Parameter isQuick: whether the sound is left alone.
    package func verify(_ recordings: [Int], isQuick: Bool = false) throws -> [StorageFinding] {
        var request = request(.verify)
        request.quick = isQuick ? true : nil
        request.recordings = recordings
        return try ask(request).findings ?? []
    }

    /// Erases recordings; returns what a person should know besides.
    package func delete(_ recordings: [Int]) throws -> [String] {
        var request = request(.delete)
        request.recordings = recordings
        return try ask(request).notes ?? []
    }

    package func exports(to volume: String) throws -> [ExportEntry] {
        var request = request(.exports)
        request.volume = volume
        return try ask(request).exports ?? []
    }

    package func exports(of recording: Int) throws -> [ExportEntry] {
        var request = request(.exports)
        request.recording = recording
        return try ask(request).exports ?? []
    }

    package func add(_ entry: ExportEntry) throws {
        var request = request(.exported)
        request.entry = entry
        _ = try ask(request)
    }

    private func ask(_ request: ControlRequest) throws -> ControlResponse {
        guard let client = try ControlClient(configuration) else {
            throw DeviceError(
                .disconnected, "connect", "the appliance has stopped in the meantime; start it and try again")
        }
        return try client.ask(request)
    }

    private func request(_ command: ControlRequest.Command) -> ControlRequest {
        var request = ControlRequest(command)
        request.directory = directory
        return request
    }
}
