import Audio
import Core
import Maintenance
import Recognition
import Settings
import Synchronization
import System
import Transcripts

/// Transcribes several files with one pool of workers. Prints transcripts in the order of the inputs, or writes each
/// one into a folder as soon as it is complete.
struct TranscriptionBatch: Sendable {
    private struct Outcome: Sendable {
        var index: Int
        var timeline: Timeline?
        var error: DeviceError?
        /// How the decoded sound differs from what the file should contain.
        var report = SoundReport()
    }

    let pool: WorkerPool
    let engine: EngineDescription
    let settings: Transcriber.Settings
    /// Whether to compute the adaptation state from the whole file first, as the second pass does.
    let isSecondPass: Bool
    let output: TranscriptOutput
    let punctuator: Punctuator
    /// Identifies speakers; nil if that is off.
    let diarization: DiarizationProcess?
    /// Whether each channel of a two-channel file is one person's microphone.
    let hasMicrophoneEach: Bool
    let track: SoundTrack
    let progress: ProgressBar

    /// Transcribes all files. Returns the exit status of the first one that failed, or 0.
    func run(_ paths: [String], jobs: Int) async throws -> Int32 {
        var statuses = [Int32](repeating: 0, count: paths.count)
        var finished: [Int: Outcome] = [:]
        var next = 0
        try await withThrowingTaskGroup(of: Outcome.self) { group in
            var started = 0
            func start() {
                guard started < paths.count else { return }
                let index = started
                started += 1
                group.addTask { try await transcribe(paths[index], index: index) }
            }
            for _ in 0..<jobs { start() }
            while let outcome = try await group.next() {
                if output.isInFolder {
                    statuses[outcome.index] = try write(outcome, of: paths[outcome.index])
                } else {
                    finished[outcome.index] = outcome
                }
                while let outcome = finished.removeValue(forKey: next) {
                    statuses[next] = try write(outcome, of: paths[next])
                    next += 1
                }
                start()
            }
        }
        TerminalStatusLine.clear()
        return statuses.first { $0 != 0 } ?? 0
    }

    private func write(_ outcome: Outcome, of path: String) throws -> Int32 {
        if let timeline = outcome.timeline { try output.write(punctuator.punctuated(timeline), of: path) }
        if let error = outcome.error {
            Terminal.say("fieldscribe: \(error.message)")
            return error.exitStatus
        }
        let name = path == "-" ? "standard input" : oneLine(path)
        if let timeline = outcome.timeline, timeline.isMostlyUnclear {
            Terminal.say(
                "fieldscribe: \(name): most of the speech is unclear: it is too noisy, or in a language other than the "
                    + "model's; fieldscribe models lists the languages of other models")
        }
        for note in outcome.report.notes { Terminal.say("fieldscribe: \(name): \(note)") }
        guard let damage = outcome.report.damage else { return 0 }
        Terminal.say("fieldscribe: \(name): \(damage); the readable part was transcribed")
        return 4
    }

    private func transcribe(_ path: String, index: Int) async throws -> Outcome {
        let began = MonotonicClock.nanoseconds
        let sink = FileSink(index: index, path: path, engine: engine, progress: progress)
        defer { progress.ended(index) }
        do {
            let source = try FileAudioSource(path: path, track: track)
            progress.opened(index, length: source.estimatedLength)
            var statistics = try await read(path, source, into: sink)
            statistics.wallSeconds = Double(MonotonicClock.nanoseconds - began) / 1e9
            let name = path == "-" ? "standard input" : lastName(of: path)
            var timeline = Timeline(
                name: name, length: SamplePosition(seconds: statistics.audioSeconds),
                engine: sink.otherEngine ?? engine,
                segments: sink.segments, statistics: statistics)
            timeline.gaps = source.report.gaps.map { Gap($0, cause: .damage) }
            timeline.speakers = try await speakers(path, timeline, sink)
            return Outcome(index: index, timeline: timeline, report: source.report)
        } catch let error as DeviceError {
            return Outcome(index: index, error: error)
        }
    }

    private func read(_ path: String, _ source: FileAudioSource, into sink: FileSink) async throws -> Statistics {
        guard isSecondPass, canBeReadAgain(path) else {
            return try await Transcriber(pool: pool, settings: settings).run(source, into: sink)
        }
        let pass = SecondPass(pool: pool, settings: settings)
        let adaptation = try await pass.adaptation { [track] in try FileAudioSource(path: path, track: track) }
        return try await Transcriber(pool: pool, settings: settings).run(source, into: sink, adaptation: adaptation)
    }

    /// Identifies the speakers. If this fails, prints a line and returns nil.
    private func speakers(_ path: String, _ timeline: Timeline, _ sink: FileSink) async throws -> Speakers? {
        guard let diarization else { return nil }
        do {
            guard canBeReadAgain(path) else {
                throw DeviceError(
                    .unsupported, "tell-speakers",
                    "\(timeline.name): speakers can only be identified in a file, which can be read twice")
            }
            let regions = DiarizationProcess.regions(of: timeline.segments, length: timeline.length)
            if hasMicrophoneEach,
                let speakers = try await diarization.speakersByChannel(in: path, isFile: true, regions: regions)
            {
                return speakers
            }
            try diarization.check()
            let bar = TaskProgressBar("identifying the speakers")
            // With several files, the status line shows their transcription instead.
            let isShown = progress.count == 1
            return try await diarization.speakers(in: path, isFile: true, regions: regions) { fraction in
                if isShown { bar.update(fraction) }
            }
        } catch let error as DeviceError {
            await sink.fault(error)
            return nil
        }
    }
}

/// Whether an input can be read again, unlike standard input and pipes.
func canBeReadAgain(_ path: String) -> Bool { path != "-" && FileStatus(target: path)?.kind == .file }

extension Timeline {
    /// Whether the engine rejected more of the speech as improbable than it transcribed.
    fileprivate var isMostlyUnclear: Bool {
        let heldBackSeconds = segments.reduce(0) { $0 + ($1.heldBack == nil ? 0 : $1.range.seconds) }
        return heldBackSeconds > segments.reduce(0) { $0 + ($1.words.isEmpty ? 0 : $1.range.seconds) }
    }
}

private final class FileSink: TranscriptSink {
    private let index: Int
    private let path: String
    private let progress: ProgressBar
    private let collectedSegments = Mutex<[Segment]>([])
    private let requestedEngine: EngineDescription
    private let fallbackEngine = Mutex<EngineDescription?>(nil)

    init(index: Int, path: String, engine: EngineDescription, progress: ProgressBar) {
        requestedEngine = engine
        self.index = index
        self.path = path
        self.progress = progress
    }

    var segments: [Segment] { collectedSegments.withLock { $0 } }

    /// The engine that was used instead of the requested one; nil if none was.
    var otherEngine: EngineDescription? { fallbackEngine.withLock { $0 } }

    func recordEngine(_ engine: EngineDescription) async {
        if engine != requestedEngine { fallbackEngine.withLock { $0 = engine } }
    }

    func commit(_ segments: [Segment], adaptation: AdaptationState?) async {
        collectedSegments.withLock { $0 += segments }
        if let last = segments.last { progress.reached(index, last.range.end) }
    }

    func markTranscribed(upTo position: SamplePosition) async { progress.reached(index, position) }

    func fault(_ error: DeviceError) async {
        Terminal.say("fieldscribe: \(progress.count == 1 ? "" : "\(oneLine(path)): ")\(error.message)")
    }
}
