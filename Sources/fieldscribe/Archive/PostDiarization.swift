import Archive
import Core
import Maintenance
import Settings
import System

/// Tells who spoke once the text is there, as the appliance does by itself, in commands that write texts.
struct PostDiarization {
    let configuration: Configuration
    let archive: SQLiteArchive

    /// Looks at recordings of which nobody has, where that is wanted. What cannot be told, such as without the model, is a line, and keeps no
    /// text from being there.
    ///
    /// - Parameter id: which; nil: all of them.
    /// - Returns: the recordings that were looked at.
    func tell(only id: Int? = nil, isQuiet: Bool) async throws -> [Int] {
        let hub = EventHub()
        let faults = hub.events(withPartials: false)
        let telling = DiarizationJob(configuration: configuration, archive: archive, hub: hub)
        let waiting = try await telling.waiting().filter { id ?? $0.id == $0.id }
        guard !waiting.isEmpty else { return [] }
        var told: [Int] = []
        var failure: DeviceError?
        do { told = try await telling.run(waiting).map(\.recording) } catch let error as DeviceError { failure = error }
        hub.finish()
        for await case .fault(_, let message) in faults { Terminal.say("fieldscribe: \(message)") }
        if let failure { Terminal.say("fieldscribe: who spoke was not told: \(failure.message)") }
        if !isQuiet {
            for id in told { Terminal.say("recording \(id): \(try await Self.people(of: id, in: archive))") }
        }
        return told
    }

    /// Who speaks in a recording, and how long each; `nobody` where nobody does.
    static func people(of recording: Int, in archive: SQLiteArchive) async throws -> String {
        let seconds = try await archive.transcript(of: recording)?.1.speakers?.seconds ?? []
        let people = seconds.enumerated().map { speaker, seconds in
            "\(Speakers.label(speaker)) \(RecordingScreen.clock(SamplePosition(seconds: seconds)))"
        }
        return people.isEmpty ? "nobody" : people.joined(separator: "  ")
    }
}
