import Audio
import Core
import FoundationEssentials
import Glibc
import Recognition
import Settings
import Synchronization
import System

/// Identifies speakers in a separate process, so that a crash in the neural network's library affects nothing else, and
/// so that the work can be killed at any moment.
package struct DiarizationProcess: Sendable {
    /// The request, a line of JSON.
    struct Request: Codable, Sendable {
        /// The ranges of speech, in order, without overlaps.
        var regions: [SampleRange]
        /// The number of speakers, if given.
        var count: Int?
        /// The identified speakers, if their voices are requested.
        var known: Speakers?
    }

    /// A line of the answer, in JSON: an empty object after each piece of speech, then the result or an error.
    private struct Answer: Codable {
        var speakers: Speakers?
        var voices: [[Float]]?
        var code: String?
        var message: String?
    }

    /// The timeout for each answer. The smallest board loads the model and analyzes a piece of a minute, or clusters
    /// the voices, in less time.
    private static let timeoutSeconds = 600
    /// A single heap for all threads saves a tenth of the memory, because threads reuse each other's freed memory.
    package static let environment = ["GLIBC_TUNABLES": "glibc.malloc.arena_max=1"]

    private let program: String
    private let model: SpeakerModel
    private let otherModels: [String]
    private let count: Int?
    package var track = SoundTrack.automatic

    /// - Parameters:
    ///   - program: the path of this executable.
    ///   - configuration: specifies the model and the number of speakers.
    package init(program: String = "/proc/self/exe", _ configuration: Configuration) {
        self.program = program
        model = configuration.diarizationModel
        otherModels = [configuration.moonshineModel.path]
        count = configuration.recognizer.speakers.count
    }

    /// Checks that the model and its runtime library exist.
    ///
    /// - Throws: `DeviceError` with `missing` or `denied`, with the file's name.
    package func check() throws(DeviceError) { try model.check(beside: otherModels) }

    /// Returns the ranges of speech: those of the engine's segments with words.
    package static func regions(of segments: [Segment], length: SamplePosition) -> [SampleRange] {
        Diarization.regions(segments.filter { !$0.words.isEmpty }.map(\.range), length: length)
    }

    /// Identifies two speakers by the channels of a recording, if each person has a microphone. Needs no model. Returns
    /// nil if there is one channel, if the channels do not separate the people, or if another number of speakers was
    /// given.
    ///
    /// - Parameter audio: the path of a recording's `audio.wav`, or of any other file if `isFile` is true.
    /// - Throws: `CancellationError`; `DeviceError` if the audio cannot be read.
    package func speakersByChannel(
        in audio: String, isFile: Bool = false, regions: [SampleRange]
    ) async throws -> Speakers? {
        guard count ?? 2 == 2 else { return nil }
        if isFile {
            let source = try SequentialSource(audio, channels: 2, track: track)
            guard source.channels == 2 else { return nil }
            var channels = ChannelTurns()
            for part in Self.parts(of: regions) {
                try Task.checkCancellation()
                channels.add(try await source.samples(in: part), at: part.start)
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

    /// Returns the regions, split into ranges of at most `Diarization.maximumPieceSamples`.
    private static func parts(of regions: [SampleRange]) -> [SampleRange] {
        regions.flatMap { $0.parts(of: Diarization.maximumPieceSamples) }
    }

    /// Identifies the speakers in the regions of a recording.
    ///
    /// - Parameters:
    ///   - audio: the path of a recording's `audio.wav`, or of any other file if `isFile` is true.
    ///   - progress: called with the progress, from 0 to 1.
    /// - Throws: `CancellationError`; `DeviceError` with `missing`, `denied`, `damaged` or `failed`.
    package func speakers(
        in audio: String, isFile: Bool = false, regions: [SampleRange],
        progress: @escaping @Sendable (Double) -> Void = { _ in }
    ) async throws -> Speakers {
        guard !regions.isEmpty else { return Speakers(turns: []) }
        let answer = try await answer(Request(regions: regions, count: count), audio, isFile, progress)
        return answer.speakers ?? Speakers(turns: [])
    }

    /// Computes the voices of a recording's identified speakers: a unit vector for each, or an empty array for a
    /// speaker without usable speech.
    ///
    /// - Parameter audio: the path of the recording's `audio.wav`.
    /// - Throws: the same as `speakers(in:isFile:regions:progress:)`.
    func voices(in audio: String, of speakers: Speakers) async throws -> [[Float]] {
        let regions = speakers.turns.map(\.range)
        guard !regions.isEmpty else { return [] }
        return try await answer(Request(regions: regions, count: nil, known: speakers), audio, false).voices ?? []
    }

    private func answer(
        _ request: Request, _ audio: String, _ isFile: Bool, _ progress: @escaping @Sendable (Double) -> Void = { _ in }
    ) async throws -> Answer {
        let child = KillableChild()
        return try await withTaskCancellationHandler {
            do {
                return try await onThread(named: "speakers", niceness: 19) {
                    try ask(child, audio, isFile, request, progress)
                }
            } catch {
                try Task.checkCancellation()
                throw error
            }
        } onCancel: {
            child.terminate()
        }
    }

    private func ask(
        _ killable: KillableChild, _ audio: String, _ isFile: Bool, _ request: Request, _ progress: (Double) -> Void
    ) throws -> Answer {
        let pieceCount = Diarization.pieces(request.regions).count
        var finishedPieces = 0
        progress(0)
        let child = try ChildProcess(
            program,
            arguments: ["tell-speakers", "--audio", audio, "--model", model.path]
                + otherModels.flatMap { ["--besides", $0] } + (isFile ? ["--any"] : [])
                + (track.option.map { ["--track", $0] } ?? []),
            showsErrors: false, environment: Self.environment)
        killable.begin(child.id)
        defer { killable.forget() }
        let line = Array(try JSONEncoder().encode(request)) + [0x0A]
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
                finishedPieces += 1
                progress((Double(finishedPieces) / Double(pieceCount)).asShare)
            }
            let output = try child.pipes.read(timeoutSeconds: Self.timeoutSeconds)
            guard !output.isEmpty else {
                throw DeviceError(
                    .failed, "read", on: model.path, "the process that identifies speakers exited",
                    remedy: "reinstall the model, or set recognizer.speakers = no")
            }
            received += output
        }
    }

    /// Answers one request. Called in the separate process.
    ///
    /// - Parameter isFile: whether `audio` is any audio file, rather than a recording's `audio.wav`.
    package static func serve(
        audio: String, isFile: Bool, track: SoundTrack = .automatic, model: SpeakerModel, besides otherModels: [String]
    ) async throws {
        nice(19)
        do {
            guard let line = readLine() else { return }
            let request = try decodedJSON(Request.self, from: line.utf8)
            let diarization = try await voices(
                in: audio, isFile: isFile, track, request.regions, by: model, besides: otherModels)
            if let known = request.known { return try send(Answer(voices: diarization.voices(of: known))) }
            try send(Answer(speakers: diarization.speakers(request.count)))
        } catch {
            let error = DeviceError(wrapping: error)
            try send(Answer(code: error.code.rawValue, message: error.message))
        }
    }

    /// Computes the voices in the regions. A separate function, so that the network's memory is freed before the
    /// clustering.
    private static func voices(
        in audio: String, isFile: Bool, _ track: SoundTrack, _ regions: [SampleRange], by model: SpeakerModel,
        besides otherModels: [String]
    ) async throws -> Diarization {
        let network = try VoiceNetwork(model, beside: otherModels)
        let source: any SampleSource =
            isFile ? try SequentialSource(audio, track: track) : try RecordingReader(path: audio)
        var diarization = Diarization()
        for piece in Diarization.pieces(regions) {
            let samples = try await source.samples(in: piece.range)
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

/// A child process that one thread can kill while another thread waits for it.
private final class KillableChild: Sendable {
    private let state = Mutex<(id: Int32?, isCancelled: Bool)>((nil, false))

    /// Sets the process ID. Kills the process immediately if `terminate()` was called before.
    func begin(_ id: Int32) {
        state.withLock { state in
            if state.isCancelled { kill(id, SIGKILL) }
            state.id = id
        }
    }

    /// Forgets the process ID, because the kernel may reuse it once the process has exited.
    func forget() { state.withLock { $0.id = nil } }

    func terminate() {
        state.withLock { state in
            state.isCancelled = true
            if let id = state.id { kill(id, SIGKILL) }
        }
    }
}

/// A source of samples whose ranges are requested in order.
private protocol SampleSource {
    func samples(in range: SampleRange) async throws -> [Int16]
}

extension RecordingReader: SampleSource {
    fileprivate func samples(in range: SampleRange) async throws -> [Int16] {
        try [Int16](unsafeUninitializedCapacity: Int(range.count)) { buffer, count in
            count = try read(at: range.start, into: buffer)
        }
    }
}

/// A file that can only be read forward.
private final class SequentialSource: SampleSource {
    private let source: FileAudioSource
    private var buffer: [Int16] = []
    /// The position of the first buffered sample.
    private var position = SamplePosition.zero

    /// The number of interleaved channels: 2 if two were requested and the file has two, otherwise 1.
    let channels: Int

    init(_ path: String, channels maximumChannels: Int = 1, track: SoundTrack) throws {
        source = try FileAudioSource(path: path, keeping: maximumChannels, track: track)
        channels = source.channels
    }

    private var end: SamplePosition { position + Int64(buffer.count / channels) }

    func samples(in range: SampleRange) async throws -> [Int16] {
        while end < range.end {
            let consumed = Int(min(end - position, max(0, range.start - position)))
            buffer.removeFirst(consumed * channels)
            position = position + Int64(consumed)
            switch try await source.next() {
            case .samples(let samples): buffer += samples
            case .gap(let gap): buffer += [Int16](repeating: 0, count: Int(gap.range.count) * channels)
            case nil: return bufferedSamples(in: range)
            }
        }
        return bufferedSamples(in: range)
    }

    private func bufferedSamples(in range: SampleRange) -> [Int16] {
        let first = Int(min(end - position, max(0, range.start - position)))
        let last = Int(min(end - position, max(0, range.end - position)))
        return Array(buffer[first * channels..<max(first, last) * channels])
    }
}
