import Core
import FoundationEssentials
import Glibc
import System

/// How to start a decode worker: a program that speaks `WorkerProtocol`.
package struct WorkerCommand: Hashable, Sendable {
    /// The program's path.
    var path: String
    /// Its arguments, without its name.
    var arguments: [String]

    /// Added to the environment, where that does not have such a name.
    var environment: [String: String]

    /// Whether it knows `--copies N`, and then makes so many copies of itself.
    var makesCopies: Bool

    /// What it loads, for errors: the model's folder.
    var model: String

    /// Names the settings that it reads with, as passes are told apart by.
    var profile: String

    package init(
        path: String, arguments: [String], model: String, profile: String = "live",
        environment: [String: String] = [:], makesCopies: Bool = false
    ) {
        self.path = path
        self.arguments = arguments
        self.model = model
        self.profile = profile
        self.environment = environment
        self.makesCopies = makesCopies
    }
}

/// The parent's side of one worker process. All methods block; one thread at a time.
///
/// After any thrown error but a refusal by the engine the worker is of no more use.
final class WorkerProcess {
    /// How long an engine may take for what it is asked, whatever it says meanwhile: on the smallest boards decoding is slower
    /// than speech.
    struct Patience: Sendable {
        var seconds = 60
        var timesAudio = 40

        func seconds(for samples: Int) -> Int { seconds + samples * timesAudio / SamplePosition.rate }
    }

    /// A model is read from a card that may be busy with a copy, by a process that everything else comes before.
    private static let loadingPatience = 300

    /// However long the utterance, its frames stay below the protocol's longest.
    private static let samplesPerFrame = 30 * SamplePosition.rate

    private(set) var engine: EngineDescription
    /// The processes of its copies.
    private var copies: [Int32] = []
    private let child: ChildProcess
    private var replies = WorkerReplies()
    /// The parts of the utterance that was begun last.
    private var parts = 0
    private var chunk = [UInt8](repeating: 0, count: 65_536)
    private let patience: Patience
    /// When what it was asked last has to be done, in nanoseconds of the monotonic clock.
    private var deadline = Int64.max
    /// The seconds that it had for that.
    private var given = 0
    private var stall: WorkerStall
    /// What is done with one that does not answer.
    private static let remedy = "it is restarted"

    /// Starts the worker and waits until its model is loaded.
    ///
    /// - Parameters:
    ///   - seconds: how long that may take.
    ///   - pace: how quickly workers like it have answered.
    /// - Throws: `DeviceError` as the engine gives it: `missing` or `damaged` for its model; `failed` where it takes longer.
    init(
        _ command: WorkerCommand, within seconds: Int = loadingPatience, patience: Patience = Patience(),
        pace: WorkerPace = WorkerPace()
    ) throws {
        self.patience = patience
        stall = WorkerStall(patience.seconds, pace)
        child = try ChildProcess(
            command.path, arguments: command.arguments, remedy: Self.remedy, environment: command.environment)
        engine = EngineDescription(name: "", version: "", model: "")
        engine = try ready(within: seconds)
    }

    /// Starts workers that share what they load, where the program can do that; else one.
    ///
    /// - Parameter count: how many, 1 or more; fewer are started where the system allows no more.
    /// - Throws: as `init`.
    static func start(
        _ command: WorkerCommand, count: Int, pace: WorkerPace = WorkerPace()
    ) throws -> [WorkerProcess] {
        guard command.makesCopies, count > 1 else { return [try WorkerProcess(command, pace: pace)] }
        let pipes = try (1..<min(count, 1 + ProcessCopies.most)).map { _ in
            try ChildPipes(to: command.path, remedy: Self.remedy)
        }
        let first = try WorkerProcess(command, copies: pipes, pace)
        return [first]
            + zip(first.copies, pipes).compactMap { id, pipes in try? WorkerProcess(copy: id, pipes, of: first) }
    }

    private init(_ command: WorkerCommand, copies: [ChildPipes], _ pace: WorkerPace) throws {
        patience = Patience()
        stall = WorkerStall(patience.seconds, pace)
        child = try ChildProcess(
            command.path, arguments: command.arguments + ["--copies", "\(copies.count)"],
            remedy: Self.remedy, environment: command.environment, copies: copies)
        engine = EngineDescription(name: "", version: "", model: "")
        engine = try ready(within: Self.loadingPatience)
    }

    private init(copy id: Int32, _ pipes: ChildPipes, of first: WorkerProcess) throws {
        patience = first.patience
        stall = WorkerStall(patience.seconds, first.stall.pace)
        child = try ChildProcess(adopting: id, pipes)
        engine = first.engine
    }

    var id: Int32 { child.id }

    /// Starts an utterance; `hear` and `close` follow.
    ///
    /// - Parameter parts: where speech is, of several utterances that are read as one; else empty.
    func open(adaptation: AdaptationState?, alternatives: Int, parts: [SampleRange] = []) throws {
        var request = request(partials: false, alternatives, adaptation)
        request.parts = parts.isEmpty ? nil : parts
        self.parts = parts.count
        allow(patience.seconds)
        try send(.request, JSONEncoder().encode(request))
    }

    /// Sends more of the utterance. Waits while the worker is behind by more than a pipe holds.
    func hear(_ samples: [Int16]) throws {
        allow(patience.seconds(for: samples.count))
        try send(samples)
    }

    /// Says that the utterance of so many samples is complete, and returns the adaptation state after it as soon as the worker
    /// knows it; nil where the utterance is too short to tell.
    func close(_ samples: Int) throws -> WorkerProtocol.Reply {
        allow(patience.seconds(for: samples))
        stall.begin(samples)
        try send(.end, Data())
        return try next(within: samples)
    }

    /// Adds to a state what an utterance teaches; nil where the engine does not tell.
    func survey(_ samples: [Int16], into state: AdaptationState?) throws -> WorkerPool.Surveyed? {
        var request = request(partials: false, 0, state)
        request.survey = true
        allow(patience.seconds(for: samples.count))
        try send(.request, JSONEncoder().encode(request))
        try send(samples)
        try send(.end, Data())
        var reply = try next(within: samples.count)
        let surveyed = reply.adaptation.map { WorkerPool.Surveyed(state: $0, candidates: reply.candidates ?? []) }
        while reply.result == nil {
            if let failure = reply.error { throw DeviceError(failure) }
            reply = try next(within: samples.count)
        }
        return surveyed
    }

    /// Waits for what `begin` announced.
    func finish(_ samples: Int, after reply: WorkerProtocol.Reply) throws -> WorkerProtocol.Result {
        var reply = reply
        // The time that it was given at the end of the audio goes on; what it has said meanwhile can be read in any case.
        let left = deadline
        allow(patience.seconds)
        deadline = max(deadline, left)
        while true {
            if let failure = reply.error { throw DeviceError(failure) }
            if let result = reply.result {
                stall.end()
                return result
            }
            reply = try next(within: samples)
        }
    }

    func beginPartials(adaptation: AdaptationState?) throws {
        allow(patience.seconds)
        try send(.request, JSONEncoder().encode(request(partials: true, 0, adaptation)))
    }

    /// Sends more of the utterance and returns what it reads as now.
    func partial(after samples: [Int16]) throws -> String {
        var text = ""
        allow(patience.seconds(for: samples.count))
        // Each frame is answered.
        for frame in Self.frames(of: samples) {
            try send(.audio, frame)
            let reply = try next(within: samples.count)
            if let failure = reply.error { throw DeviceError(failure) }
            text = reply.partial ?? ""
        }
        return text
    }

    func endPartials() throws {
        allow(patience.seconds)
        try send(.end, Data())
        while try next(within: 0).done != true {}
    }

    private func ready(within seconds: Int) throws -> EngineDescription {
        let reply: WorkerProtocol.Reply?
        allow(seconds)
        do { reply = try next(within: 0) } catch let error as DeviceError
            // Late is not strange: the next one may be in time.
            where error.code != .failed || error.status == ETIMEDOUT
        {
            throw error
        } catch { reply = nil }
        if let failure = reply?.error { throw DeviceError(failure) }
        guard let engine = reply?.ready else {
            throw DeviceError(
                .unsupported, "decode-worker", on: child.name, "does not speak the protocol of decode workers",
                remedy: "set recognizer.engine to pocketsphinx")
        }
        copies = reply?.copies ?? []
        return engine
    }

    private func request(
        partials: Bool, _ alternatives: Int, _ adaptation: AdaptationState?
    ) -> WorkerProtocol.Request {
        WorkerProtocol.Request(partials: partials, alternatives: alternatives, adaptation: adaptation)
    }

    private func send(_ samples: [Int16]) throws {
        for frame in Self.frames(of: samples) { try send(.audio, frame) }
    }

    private static func frames(of samples: [Int16]) -> [Data] {
        stride(from: 0, to: samples.count, by: samplesPerFrame).map { start in
            // Every machine that Fieldscribe is built for is little-endian, as the frames are.
            samples[start..<min(samples.count, start + samplesPerFrame)].withUnsafeBytes { Data($0) }
        }
    }

    private func send(_ kind: WorkerProtocol.Frame, _ payload: Data) throws {
        var frame = Data(capacity: payload.count + 5)
        frame.append(kind.rawValue)
        withUnsafeBytes(of: UInt32(payload.count).littleEndian) { frame.append(contentsOf: $0) }
        frame.append(payload)
        let seconds = try secondsLeft
        try frame.withUnsafeBytes { bytes in
            try child.write(bytes, timeoutSeconds: seconds) { () throws(DeviceError) in try stall.watch(child) }
        }
    }

    /// Gives the engine so long for what it is asked next: for all of it, so that no stream of other replies, and no reply that
    /// comes byte by byte, holds it up for longer.
    private func allow(_ seconds: Int) {
        given = seconds
        stall.restart()
        deadline = MonotonicClock.nanoseconds + Int64(seconds) * 1_000_000_000
    }

    /// What is left of that time, 1 or more.
    private var secondsLeft: Int {
        get throws {
            let left = deadline - MonotonicClock.nanoseconds
            guard left > 0 else {
                throw DeviceError(
                    .failed, "poll", status: ETIMEDOUT, on: child.name,
                    "did not finish within \(given) s (process \(id))",
                    remedy: Self.remedy)
            }
            return Int((left + 999_999_999) / 1_000_000_000)
        }
    }

    /// The next reply; what it says of an utterance of so many samples lies within them.
    private func next(within samples: Int) throws -> WorkerProtocol.Reply {
        while true {
            do {
                if let reply = try replies.next(within: samples, parts: parts) { return reply }
            } catch {
                throw DeviceError(
                    .failed, "decode-worker", "the decode worker (process \(id)) sent an invalid reply",
                    remedy: "the utterance is tried again")
            }
            let seconds = try secondsLeft
            let count = try chunk.withUnsafeMutableBytes { room in
                try child.read(into: room, timeoutSeconds: seconds) { () throws(DeviceError) in try stall.watch(child) }
            }
            guard count > 0 else {
                throw DeviceError(
                    .disconnected, "decode-worker", "the decode worker (process \(id)) ended unexpectedly")
            }
            replies.take(chunk[..<count])
        }
    }
}

extension WorkerCommand {
    /// Starts a worker, which loads its model, and ends it.
    ///
    /// - Throws: as a worker tells it: `missing` or `damaged` for the model.
    package func load() throws(DeviceError) {
        do { _ = try WorkerProcess.start(self, count: 1) } catch { throw DeviceError(wrapping: error) }
    }
}
