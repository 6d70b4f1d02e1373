import Core
import Platform
import PocketSphinxRecognizer
import Recognizing
import Recording
import SQLiteArchive
import Synchronization

/// Starts, marks and stops recordings, whoever asks; each is transcribed while it grows, and after it as long as it takes.
///
/// All that happens goes through one loop, in order. A recording that is being transcribed keeps no new one from starting.
package final class Recorder: Service {
    package enum Order: Hashable, Sendable {
        /// Does nothing where one goes on.
        case start
        /// Does nothing where none goes on.
        case stop
        case toggle
        /// Marks the place that was recorded so long ago.
        case mark(text: String, ago: Duration)
    }

    /// What an order came to.
    package struct Answer: Hashable, Sendable {
        /// The recording that it started, stopped or marked, or that goes on; nil where there is none.
        package var recording: Int?
        package var mark: Mark?
    }

    typealias Reply = CheckedContinuation<Result<Answer, DeviceError>, Never>

    enum Message: Sendable {
        case order(Order, StopReason, Reply?)
        /// The first samples of a recording are in its file.
        case begun(Int)
        /// The file is closed.
        case closed(Int)
        /// Its transcription has ended, too.
        case ended(Int, Result<LiveRecording.Outcome, any Error>)
        /// Time to look whether bytes reach the disk.
        case tick(Int)
        /// Nobody needed the decode workers for a while, where this was the last that did.
        case rest(after: Int)
        case isAlive(CheckedContinuation<Bool, Never>)
    }

    /// What others may ask at any time.
    struct Board: Sendable {
        var state = Event.State.idle
        var live: LiveRecording?
    }

    let name = "recorder"
    let configuration: Configuration
    let archive: SQLiteArchive
    let hub: EventHub
    let panel: PanelDesk
    /// Open while idle where there is a pre-roll; else it is opened for each recording. Why there is none, it says then.
    let microphone: Result<PrerollMicrophone, DeviceError>

    /// An element each time that nothing is being recorded or transcribed any longer, and one at the start.
    let rests: AsyncStream<Void>
    private let rested: AsyncStream<Void>.Continuation
    private let messages: AsyncStream<Message>
    private let posts: AsyncStream<Message>.Continuation
    private let board = Mutex(Board())
    private let pool = Mutex<WorkerPool?>(nil)
    private let secondPool = Mutex<WorkerPool?>(nil)

    init(configuration: Configuration, archive: SQLiteArchive, hub: EventHub, panel: PanelDesk) {
        self.configuration = configuration
        self.archive = archive
        self.hub = hub
        self.panel = panel
        (messages, posts) = AsyncStream<Message>.makeStream()
        (rests, rested) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        do throws(DeviceError) {
            let base = try configuration.microphone()
            microphone = .success(PrerollMicrophone(base, seconds: configuration.capture.prerollSeconds))
        } catch { microphone = .failure(error) }
        rested.yield()
    }

    /// Nothing is being recorded or transcribed now.
    func rest() { rested.yield() }

    /// Carries out an order; returns when it is done: the first samples are written, the file is closed, the mark is kept.
    package func perform(_ order: Order, reason: StopReason) async -> Result<Answer, DeviceError> {
        await withCheckedContinuation { reply in
            if case .terminated = posts.yield(.order(order, reason, reply)) {
                reply.resume(returning: .failure(DeviceError(.failed, "recorder", "the appliance is ending")))
            }
        }
    }

    /// Passes an order on, and does not wait for it.
    func post(_ order: Order, reason: StopReason) { post(.order(order, reason, nil)) }

    func post(_ message: Message) { posts.yield(message) }

    /// Whether the loop runs and, while recording, bytes reach the disk.
    func isAlive() async -> Bool {
        await withCheckedContinuation { reply in
            if case .terminated = posts.yield(.isAlive(reply)) { reply.resume(returning: true) }
        }
    }

    var state: Event.State { board.withLock { $0.state } }

    /// The recording that goes on.
    var live: LiveRecording? { board.withLock { $0.live } }

    func show(_ state: Event.State, live: LiveRecording?) {
        let changed = board.withLock { board in
            defer { board = Board(state: state, live: live) }
            return board.state != state
        }
        // A recording says by itself that it goes on, and that it stops.
        if changed, state == .idle || state == .faulted { hub.publish(.state(state)) }
    }

    package func run() async {
        await withDiscardingTaskGroup { group in
            var work = RecorderWork(recorder: self)
            for await message in messages { await work.handle(message, in: &group) }
            group.cancelAll()
        }
    }

    /// Closes the recording that goes on and ends the decode workers; what they had not read yet is left for later.
    package func stop() async {
        _ = await perform(.stop, reason: .shutdown)
        posts.finish()
        for pool in [pool.withLock { $0 }, secondPool.withLock { $0 }] { await pool?.end() }
    }

    /// Ends the decode workers that nobody needs. Where the board was found to be faster or slower than was known, the next
    /// ones read with another profile.
    func restWorkers() async {
        guard let old = pool.withLock({ $0 }) else { return }
        await old.rest()
        guard await old.isEmpty, await old.profile != configuration.liveProfile else { return }
        pool.withLock { if $0 === old { $0 = nil } }
    }

    /// The decode workers of the second pass, which step back behind everything else.
    ///
    /// - Throws: `DeviceError` with `missing` or `denied` where the model is not whole.
    func rereaders() throws -> WorkerPool {
        try secondPool.withLock { pool in
            if let pool { return pool }
            let new = try configuration.workers(profile: SecondPass.profile, niceness: SecondPass.niceness)
            pool = new
            return new
        }
    }

    /// Ends the decode workers of the second pass, also in mid-utterance; it goes on behind what it has committed.
    func endRereaders() async {
        let old = secondPool.withLock { pool in
            defer { pool = nil }
            return pool
        }
        await old?.end()
    }

    /// The decode workers, which start when they are needed.
    ///
    /// - Throws: `DeviceError` with `missing` or `denied` where the model is not whole.
    func workers() throws -> WorkerPool {
        try pool.withLock { pool in
            if let pool { return pool }
            let new = try configuration.workers(profile: configuration.liveProfile, niceness: 5)
            pool = new
            return new
        }
    }
}
