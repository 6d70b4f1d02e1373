import Audio
import Core
import FoundationEssentials
import Glibc
import Recognition
import Settings
import Synchronization
import System

/// Identifies speakers in a process of its own: a crash of the network's library affects nothing else, and the process
/// can be killed at any moment.
package struct DiarizationProcess: Sendable {
    /// The request, one line of JSON.
    struct Order: Codable, Sendable {
        /// The speech, in order, without overlaps.
        var regions: [SampleRange]
        /// The number of speakers, if given.
        var count: Int?
        /// The known speakers, when their voices are requested.
        var known: Speakers?
    }

    /// The answer, lines of JSON: one after each region, and a last one.
    private struct Answer: Codable {
        var speakers: Speakers?
        var voices: [[Float]]?
        var code: String?
        var message: String?
    }

    /// Seconds for one region of at most a minute on the smallest board, including loading the model; or for the
    /// clustering.
    private static let timeoutSeconds = 600
    /// One heap for all threads saves a tenth of all memory: a thread reuses what another one freed.
    package static let environment = ["GLIBC_TUNABLES": "glibc.malloc.arena_max=1"]

    private let program: String
    private let model: SpeakerModel
    private let others: [String]
    private let count: Int?
    /// Which tracks of a file to use.
    package var track = SoundTrack.automatic

    /// - Parameters:
    ///   - program: this executable.
    ///   - configuration: names the model and the number of speakers.
    package init(program: String = "/proc/self/exe", _ configuration: Configuration) {
        self.program = program
        model = configuration.diarizationModel
        others = [configuration.moonshineModel.path]
        count = configuration.recognizer.speakers.count
    }

    /// Checks that model and runtime exist.
    ///
    /// - Throws: `DeviceError` with `missing` or `denied`, naming the file.
    package func check() throws(DeviceError) { try model.check(besides: others) }

    /// The speech: the ranges of the engine's words.
    package static func regions(of segments: [Segment], length: SamplePosition) -> [SampleRange] {
        Diarization.regions(segments.filter { !$0.words.isEmpty }.map(\.range), length: length)
    }

    /// Identifies speakers by the channels of a recording, if each person has a microphone. Needs no model. Returns nil for
    /// one channel, if the channels do not separate people, or if another number of speakers was given.
    ///
    /// - Parameter audio: the path of a recording's `audio.wav`, or of any other file if `isFile`.
    /// - Throws: `CancellationError`; `DeviceError` if it cannot be read.
    package func speakersByChannel(
        in audio: String, isFile: Bool = false, regions: [SampleRange]
    ) async throws -> Speakers? {
        guard count ?? 2 == 2 else { return nil }
        if isFile {
            let sound = try PassingSound(audio, keeping: 2, track: track)
            guard sound.channels == 2 else { return nil }
            var channels = ChannelTurns()
            for part in Self.parts(of: regions) {
                try Task.checkCancellation()
                channels.add(try await sound.samples(in: part), at: part.start)
            }
            return channels.speakers()
        }
        let reader = try RecordingReader(path: audio)
        guard reader.channels == 2 else { return nil }
        return try await onStoppableThread(named: "speakers", niceness: 19) { shouldContinue in
            var channels = ChannelTurns()
            for part in Self.parts(of: regions) {
                guard shouldContinue() else { throw CancellationError() }
                let samples = try [Int16](unsafeUninitializedCapacity: 2 * Int(part.count)) { buffer, count in
                    buffer.initialize(repeating: 0)
                    count = 2 * (try reader.readFrames(at: part.start, into: buffer))
                }
                channels.add(samples, at: part.start)
            }
            return channels.speakers()
        }
    }

    /// The regions in pieces for the network.
    private static func parts(of regions: [SampleRange]) -> [SampleRange] {
        regions.flatMap { $0.parts(of: Diarization.longest) }
    }

    /// Identifies the speakers in the regions of a recording.
    ///
    /// - Parameters:
    ///   - audio: the path of a recording's `audio.wav`, or of any other file if `isFile`.
    ///   - progress: called with the progress, 0 to 1.
    /// - Throws: `CancellationError`; `DeviceError` with `missing`, `denied`, `damaged` or `failed`.
    package func speakers(
        in audio: String, isFile: Bool = false, regions: [SampleRange],
        progress: @escaping @Sendable (Double) -> Void = { _ in }
    ) async throws -> Speakers {
        guard !regions.isEmpty else { return Speakers(turns: []) }
        let answer = try await answer(Order(regions: regions, count: count), audio, isFile, progress)
        return answer.speakers ?? Speakers(turns: [])
    }

    /// The voices of a recording's known speakers: a unit vector for each; empty for one without usable speech.
    ///
    /// - Parameter audio: the path of its `audio.wav`.
    /// - Throws: as `speakers` does.
    func voices(in audio: String, of speakers: Speakers) async throws -> [[Float]] {
        let regions = speakers.turns.map(\.range)
        guard !regions.isEmpty else { return [] }
        return try await answer(Order(regions: regions, count: nil, known: speakers), audio, false).voices ?? []
    }

    private func answer(
        _ order: Order, _ audio: String, _ isFile: Bool, _ progress: @escaping @Sendable (Double) -> Void = { _ in }
    ) async throws -> Answer {
        let child = EndableChild()
        return try await withTaskCancellationHandler {
            do {
                return try await onThread(named: "speakers", niceness: 19) {
                    try ask(child, audio, isFile, order, progress)
                }
            } catch {
                try Task.checkCancellation()
                throw error
            }
        } onCancel: {
            child.end()
        }
    }

    private func ask(
        _ running: EndableChild, _ audio: String, _ isFile: Bool, _ order: Order, _ progress: (Double) -> Void
    ) throws -> Answer {
        let pieces = Diarization.pieces(order.regions).count
        var done = 0
        progress(0)
        let child = try ChildProcess(
            program,
            arguments: ["tell-speakers", "--audio", audio, "--model", model.path]
                + others.flatMap { ["--besides", $0] } + (isFile ? ["--any"] : [])
                + (track.option.map { ["--track", $0] } ?? []),
            showsErrors: false, environment: Self.environment)
        running.begin(child.id)
        defer { running.forget() }
        let line = Array(try JSONEncoder().encode(order)) + [0x0A]
        try line.withUnsafeBytes { try child.pipes.write($0, timeoutSeconds: Self.timeoutSeconds) }
        child.pipes.closeInput()
        var received: [UInt8] = []
        while true {
            while let end = received.firstIndex(of: 0x0A) {
                let answer = try decodedJSON(Answer.self, from: received[..<end])
                received.removeFirst(end + 1)
                if answer.speakers != nil || answer.voices != nil { return answer }
                if let code = answer.code.flatMap({ DeviceError.Code(rawValue: $0) }) {
                    throw DeviceError(code, "tell-speakers", answer.message ?? "")
                }
                done += 1
                progress((Double(done) / Double(pieces)).asShare)
            }
            let more = try child.pipes.read(timeoutSeconds: Self.timeoutSeconds)
            guard !more.isEmpty else {
                throw DeviceError(
                    .failed, "read", on: model.path, "the process that identifies speakers exited",
                    remedy: "reinstall the model, or set recognizer.speakers = no")
            }
            received += more
        }
    }

    /// Runs in the process: answers one request, and ends.
    ///
    /// - Parameter isFile: whether it is any file that libsndfile reads, not a recording's.
    package static func serve(
        audio: String, isFile: Bool, track: SoundTrack = .automatic, model: SpeakerModel, besides others: [String]
    ) async throws {
        nice(19)
        do {
            guard let line = readLine() else { return }
            let order = try decodedJSON(Order.self, from: line.utf8)
            let diarization = try await voices(
                in: audio, isFile: isFile, track, order.regions, by: model, besides: others)
            if let known = order.known { return try send(Answer(voices: diarization.voices(of: known))) }
            try send(Answer(speakers: diarization.speakers(order.count)))
        } catch {
            let error = DeviceError(wrapping: error)
            try send(Answer(code: error.code.rawValue, message: error.message))
        }
    }

    /// The voices in the regions. The network is freed before this returns, since clustering needs its memory.
    private static func voices(
        in audio: String, isFile: Bool, _ track: SoundTrack, _ regions: [SampleRange], by model: SpeakerModel,
        besides others: [String]
    ) async throws -> Diarization {
        let network = try VoiceNetwork(model, besides: others)
        let sound: any Sound = isFile ? try PassingSound(audio, track: track) : try RecordingReader(path: audio)
        var diarization = Diarization()
        for piece in Diarization.pieces(regions) {
            let samples = try await sound.samples(in: piece.range)
            try diarization.add(samples, at: piece.range.start, speech: piece.speech) {
                features throws(DeviceError) in
                try network.voice(features)
            }
            try send(Answer())
        }
        return diarization
    }

    private static func send(_ answer: Answer) throws {
        let line = Array(try JSONEncoder().encode(answer)) + [0x0A]
        try rethrowing { try line.withUnsafeBytes { try FileDescriptor.write($0, to: 1, named: "standard output") } }
    }
}

/// A child process that another thread can kill while one waits for it.
private final class EndableChild: Sendable {
    private let state = Mutex<(id: Int32?, hasEnded: Bool)>((nil, false))

    /// Kills it immediately if it was cancelled before.
    func begin(_ id: Int32) {
        state.withLock { state in
            if state.hasEnded { kill(id, SIGKILL) }
            state.id = id
        }
    }

    /// From now on, its process ID may be reused.
    func forget() { state.withLock { $0.id = nil } }

    func end() {
        state.withLock { state in
            state.hasEnded = true
            if let id = state.id { kill(id, SIGKILL) }
        }
    }
}

/// Samples at positions that are requested in order.
private protocol Sound {
    func samples(in range: SampleRange) async throws -> [Int16]
}

extension RecordingReader: Sound {
    fileprivate func samples(in range: SampleRange) async throws -> [Int16] {
        try [Int16](unsafeUninitializedCapacity: Int(range.count)) { buffer, count in
            count = try read(at: range.start, into: buffer)
        }
    }
}

/// A file that can only be read forwards.
private final class PassingSound: Sound {
    private let source: FileAudioSource
    private var held: [Int16] = []
    /// The position of the first buffered sample.
    private var position = SamplePosition.zero

    /// 1, or 2 interleaved channels if both are kept and there are two.
    let channels: Int

    init(_ path: String, keeping: Int = 1, track: SoundTrack) throws {
        source = try FileAudioSource(path: path, keeping: keeping, track: track)
        channels = source.channels
    }

    private var end: SamplePosition { position + Int64(held.count / channels) }

    func samples(in range: SampleRange) async throws -> [Int16] {
        while end < range.end {
            let unneeded = Int(min(end - position, max(0, range.start - position)))
            held.removeFirst(unneeded * channels)
            position = position + Int64(unneeded)
            switch try await source.next() {
            case .samples(let samples): held += samples
            case .gap(let gap): held += [Int16](repeating: 0, count: Int(gap.range.count) * channels)
            case nil: return part(range)
            }
        }
        return part(range)
    }

    private func part(_ range: SampleRange) -> [Int16] {
        let first = Int(min(end - position, max(0, range.start - position)))
        let last = Int(min(end - position, max(0, range.end - position)))
        return Array(held[first * channels..<max(first, last) * channels])
    }
}
