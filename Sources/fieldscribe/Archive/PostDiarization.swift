import Archive
import Core
import Maintenance
import Settings
import Synchronization
import System

/// Identifies speakers after commands that transcribe, as the appliance does.
struct PostDiarization {
    let configuration: Configuration
    let archive: SQLiteArchive

    /// Identifies speakers in the recordings where this is due. Prints a line for each recording that fails, or one line
    /// if the model cannot be used.
    ///
    /// - Parameter id: the only recording to process; nil for all.
    /// - Returns: the IDs of the recordings whose speakers were identified; empty after an error that ended the job.
    func run(only id: Int? = nil, isQuiet: Bool) async throws -> [Int] {
        let hub = EventHub()
        let faults = hub.events(withPartials: false)
        let diarization = DiarizationJob(
            configuration: configuration, archive: archive, hub: hub, progress: Self.progress())
        let waiting = try await diarization.waiting().filter { id ?? $0.id == $0.id }
        guard !waiting.isEmpty else { return [] }
        var identified: [Int] = []
        var failure: DeviceError?
        do { identified = try await diarization.run(waiting).map(\.recording) } catch let error as DeviceError {
            failure = error
        }
        hub.finish()
        TerminalStatusLine.clear()
        for await case .fault(_, let message) in faults { Terminal.say("fieldscribe: \(message)") }
        if let failure { Terminal.say("fieldscribe: speakers were not identified: \(failure.message)") }
        if !isQuiet {
            for id in identified { Terminal.say("recording \(id): \(try await Self.people(of: id, in: archive))") }
        }
        return identified
    }

    static func progress() -> @Sendable (_ recording: Int, _ fraction: Double) -> Void {
        let bars = Mutex<[Int: TaskProgressBar]>([:])
        return { id, fraction in
            let bar = bars.withLock { bars in
                let bar = bars[id] ?? TaskProgressBar("identifying the speakers of recording \(id)")
                bars[id] = bar
                return bar
            }
            bar.update(fraction)
        }
    }

    /// Returns the speakers of a recording and how long each one speaks, or `nobody speaks`.
    static func people(of recording: Int, in archive: SQLiteArchive) async throws -> String {
        let seconds = try await archive.transcript(of: recording)?.1.speakers?.seconds ?? []
        let people = seconds.enumerated().map { speaker, seconds in
            "\(Speakers.label(speaker)) \(RecordingScreen.clock(seconds: seconds))"
        }
        return people.isEmpty ? "nobody speaks" : people.joined(separator: "  ")
    }
}
