import Audio
import Core
import FoundationEssentials
import Glibc
import Recognition
import Settings
import Synchronization
import System

/// Who spoke when, asked of a process of its own: what a network's library does to itself ends nothing else, and it can be ended at
/// any moment.
package struct DiarizationProcess: Sendable {
    /// What is asked, as one line of JSON.
    struct Order: Codable, Sendable {
        /// Where there is speech, in order, none over another.
        var regions: [SampleRange]
        /// How many people there are; nil where nobody has said.
        var count: Int?
        /// Who speaks there, where that is known and it is asked what these people sound like.
        var known: Speakers?

        init(regions: [SampleRange], count: Int?, known: Speakers? = nil) {
            self.regions = regions
            self.count = count
            self.known = known
        }
    }

    /// What is answered, lines of JSON: one after each region, and a last one.
    private struct Answer: Codable {
        var speakers: Speakers?
        var voices: [[Float]]?
        var code: String?
        var message: String?
    }

    /// Seconds for one region, of a minute at most, on the smallest board, with the model to be loaded; or for all to be told apart.
    private static let patience = 600
    /// One heap for all threads: what one has given back another uses, which is a tenth of all memory.
    package static let environment = ["GLIBC_TUNABLES": "glibc.malloc.arena_max=1"]

    private let program: String
    private let model: SpeakerModel
    private let others: [String]
    private let count: Int?
    /// Which tracks of a file are heard.
    package var track = SoundTrack.automatic

    /// - Parameters:
    ///   - program: this one.
    ///   - configuration: names the model, and how many people there are.
    package init(program: String = "/proc/self/exe", _ configuration: Configuration) {
        self.program = program
        model = configuration.speakerTelling
        others = [configuration.moonshineModel.path]
        count = configuration.recognizer.speakers.count
    }

    /// Checks that model and runtime are there.
    ///
    /// - Throws: `DeviceError` with `missing` or `denied`, naming the file.
    package func check() throws(DeviceError) { try model.check(besides: others) }

    /// Where there is speech: what has words, at the times that the engine gave it.
    package static func regions(of segments: [Segment], length: SamplePosition) -> [SampleRange] {
        Diarization.regions(segments.filter { !$0.words.isEmpty }.map(\.range), length: length)
    }

    /// Who spoke by the channels of a sound, one person's microphone each; nil where it has one channel, where these do not tell people
    /// apart, or where another number of people was named. Needs no model.
    ///
    /// - Parameters:
    ///   - audio: the path of a recording's `audio.wav`, or of any other file where `isFile`.
    /// - Throws: `CancellationError`; `DeviceError` where it cannot be read.
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
        return try await onStoppableThread(named: "speakers", niceness: 19) { goesOn in
            var channels = ChannelTurns()
            for part in Self.parts(of: regions) {
                guard goesOn() else { throw CancellationError() }
                let samples = try [Int16](unsafeUninitializedCapacity: 2 * Int(part.count)) { buffer, count in
                    buffer.initialize(repeating: 0)
                    count = 2 * (try reader.readFrames(at: part.start, into: buffer))
                }
                channels.add(samples, at: part.start)
            }
            return channels.speakers()
        }
    }

    /// The regions in pieces that are looked at at once.
    private static func parts(of regions: [SampleRange]) -> [SampleRange] {
        regions.flatMap { $0.parts(of: Diarization.longest) }
    }

    /// Who spoke in the regions of a sound.
    ///
    /// - Parameters:
    ///   - audio: the path of a recording's `audio.wav`, or of any other file where `isFile`.
    /// - Throws: `CancellationError`; `DeviceError` with `missing`, `denied`, `damaged` or `failed`.
    package func speakers(in audio: String, isFile: Bool = false, regions: [SampleRange]) async throws -> Speakers {
        guard !regions.isEmpty else { return Speakers(turns: []) }
        return try await answer(Order(regions: regions, count: count), audio, isFile).speakers ?? Speakers(turns: [])
    }

    /// What people sound like who are known to speak in a recording: numbers of length 1 for each; empty for who is not heard.
    ///
    /// - Parameter audio: the path of its `audio.wav`.
    /// - Throws: as `speakers` does.
    func voices(in audio: String, of speakers: Speakers) async throws -> [[Float]] {
        let regions = speakers.turns.map(\.range)
        guard !regions.isEmpty else { return [] }
        return try await answer(Order(regions: regions, count: nil, known: speakers), audio, false).voices ?? []
    }

    private func answer(_ order: Order, _ audio: String, _ isFile: Bool) async throws -> Answer {
        let child = EndableChild()
        return try await withTaskCancellationHandler {
            do {
                return try await onThread(named: "speakers", niceness: 19) {
                    try ask(child, audio, isFile, order)
                }
            } catch {
                try Task.checkCancellation()
                throw error
            }
        } onCancel: {
            child.end()
        }
    }

    private func ask(_ running: EndableChild, _ audio: String, _ isFile: Bool, _ order: Order) throws -> Answer {
        let child = try ChildProcess(
            program,
            arguments: ["tell-speakers", "--audio", audio, "--model", model.path]
                + others.flatMap { ["--besides", $0] } + (isFile ? ["--any"] : [])
                + (track.option.map { ["--track", $0] } ?? []),
            showsErrors: false, environment: Self.environment)
        running.begin(child.id)
        defer { running.forget() }
        let line = Array(try JSONEncoder().encode(order)) + [0x0A]
        let sent = UnsafeMutableRawBufferPointer.allocate(byteCount: line.count, alignment: 8)
        defer { sent.deallocate() }
        sent.copyBytes(from: line)
        try child.write(UnsafeRawBufferPointer(sent), timeoutSeconds: Self.patience)
        child.closeInput()
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 8)
        defer { room.deallocate() }
        var received: [UInt8] = []
        while true {
            while let end = received.firstIndex(of: 0x0A) {
                let answer = try JSONDecoder().decode(
                    Answer.self, from: Data(JSONStrings.check(Array(received[..<end]))))
                received.removeFirst(end + 1)
                if answer.speakers != nil || answer.voices != nil { return answer }
                if let code = answer.code.flatMap({ DeviceError.Code(rawValue: $0) }) {
                    throw DeviceError(code, "tell-speakers", answer.message ?? "")
                }
            }
            let got = try child.read(into: room, timeoutSeconds: Self.patience)
            guard got > 0 else {
                throw DeviceError(
                    .failed, "read", on: model.path, "what tells voices apart has ended by itself",
                    remedy: "reinstall the model, or set recognizer.speakers = no")
            }
            received += room[..<got]
        }
    }

    /// The other end: answers one order, and ends.
    ///
    /// - Parameter isFile: whether it is any file that libsndfile reads, and not a recording's.
    package static func serve(
        audio: String, isFile: Bool, track: SoundTrack = .automatic, model: SpeakerModel, besides others: [String]
    ) async throws {
        nice(19)
        do {
            guard let line = readLine() else { return }
            let order = try JSONDecoder().decode(Order.self, from: Data(JSONStrings.check(Array(line.utf8))))
            let diarization = try await voices(
                in: audio, isFile: isFile, track, order.regions, by: model, besides: others)
            if let known = order.known { return try tell(Answer(voices: diarization.voices(of: known))) }
            try tell(Answer(speakers: diarization.speakers(order.count)))
        } catch {
            let error = DeviceError(wrapping: error)
            try tell(Answer(code: error.code.rawValue, message: error.message))
        }
    }

    /// The voices in the regions. Nothing is left of the network then: putting voices together takes what it took.
    private static func voices(
        in audio: String, isFile: Bool, _ track: SoundTrack, _ regions: [SampleRange], by model: SpeakerModel,
        besides others: [String]
    ) async throws -> Diarization {
        let network = try VoiceNetwork(model, besides: others)
        let sound: any Sound = isFile ? try PassingSound(audio, track: track) : try RecordedSound(audio)
        var diarization = Diarization()
        for piece in Diarization.pieces(regions) {
            let samples = try await sound.samples(in: piece.range)
            try diarization.add(samples, at: piece.range.start, speech: piece.speech) {
                features throws(DeviceError) in
                try network.voice(features)
            }
            try tell(Answer())
        }
        return diarization
    }

    private static func tell(_ answer: Answer) throws {
        let line = Array(try JSONEncoder().encode(answer)) + [0x0A]
        try rethrowing { try line.withUnsafeBytes { try FileDescriptor.write($0, to: 1, named: "standard output") } }
    }
}

/// A child that others may end while somebody waits for it.
private final class EndableChild: Sendable {
    private let state = Mutex<(id: Int32?, hasEnded: Bool)>((nil, false))

    /// Kills it at once where it was to be ended before.
    func begin(_ id: Int32) {
        state.withLock { state in
            if state.hasEnded { kill(id, SIGKILL) }
            state.id = id
        }
    }

    /// From now on its number may be another's.
    func forget() { state.withLock { $0.id = nil } }

    func end() {
        state.withLock { state in
            state.hasEnded = true
            if let id = state.id { kill(id, SIGKILL) }
        }
    }
}

/// What is heard at places that are asked for in order.
private protocol Sound {
    func samples(in range: SampleRange) async throws -> [Int16]
}

private struct RecordedSound: Sound {
    private let reader: RecordingReader

    init(_ path: String) throws { reader = try RecordingReader(path: path) }

    func samples(in range: SampleRange) async throws -> [Int16] {
        try [Int16](unsafeUninitializedCapacity: Int(range.count)) { buffer, count in
            count = try reader.read(at: range.start, into: buffer)
        }
    }
}

/// A file that can only be read on.
private final class PassingSound: Sound {
    private let source: FileAudioSource
    private var held: [Int16] = []
    /// Of the first that is held.
    private var position = SamplePosition.zero

    /// 1, or 2 where both were to be kept and there are two; then these are interleaved.
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
