import Archive
import Audio
import Core
import Maintenance
import Settings
import Synchronization
import System

/// Starts, marks and stops recordings. Each is transcribed while it is recorded, and afterwards until its text is complete.
///
/// Everything that happens is a message to one loop (`RecorderLoop`), which asks a pure state machine (`RecorderState`) what to
/// do. A new recording can start while earlier ones are still being transcribed.
final class Recorder: Service {
    /// The result of an order.
    struct Answer: Hashable, Sendable {
        /// The recording that was started, stopped, paused or marked, or the current one; nil without one.
        var recording: Int?
        /// For `mark`: the new bookmark.
        var mark: Bookmark?
        /// What the order changed; nil if nothing.
        var change: OrderChange?
        /// The new state: that of `recording`, which is idle or faulted once it has ended.
        var state: Event.State?
    }

    /// How many lines may wait for the log's reader; older ones are dropped, so that the loop never blocks.
    private static let longestLog = 1_024

    let name = "recorder"
    let configuration: Configuration
    let archive: SQLiteArchive
    /// Repairs that remain after the start; nil without any.
    let repairs: Repairs?
    /// Every event published here also reaches the recorder's loop, even if slow subscribers miss it.
    let hub: EventHub
    let panel: PanelController
    let workers: DecodeWorkers
    let secondPass = SecondPassProgress()
    /// Sealed recordings that a private key has opened.
    let opened: OpenedRecordings
    /// Open while idle if there is a pre-roll, otherwise only while recording; or why there is no microphone.
    let microphone: Result<PrerollMicrophone, DeviceError>
    let inbox: RecorderInbox

    let log: AsyncStream<LogLine>
    private let lines: AsyncStream<LogLine>.Continuation
    private let published = Mutex(RecorderSnapshot())

    /// - Parameter microphone: the source; nil for the configured one.
    /// - Throws: `DeviceError` if the process has no descriptor left.
    init(
        configuration: Configuration, archive: SQLiteArchive, repairs: Repairs? = nil,
        microphone: (any MicrophoneProvider)? = nil
    ) throws(DeviceError) {
        let inbox = RecorderInbox()
        self.inbox = inbox
        self.configuration = configuration
        self.archive = archive
        self.repairs = repairs
        workers = DecodeWorkers(configuration)
        (log, lines) = AsyncStream<LogLine>.makeStream(bufferingPolicy: .bufferingNewest(Self.longestLog))
        do throws(DeviceError) {
            let base = if let microphone { microphone } else { try configuration.microphone() }
            self.microphone = .success(PrerollMicrophone(base, seconds: configuration.capture.prerollSeconds))
        } catch { self.microphone = .failure(error) }
        hub = EventHub { event in
            switch event {
            case .level, .partial, .final, .rotation: break
            case .state, .gap, .mark, .fault, .export, .laptop, .opened: inbox.tell(.event(event))
            }
        }
        panel = try PanelController { event in inbox.tell(.button(event)) }
        opened = OpenedRecordings(
            storage: configuration.storage.directory, archive: archive,
            places: [folder(of: configuration.control.socket), "/dev/shm"]
        ) { [hub] state in hub.publish(.opened(recordings: state?.recordings ?? [])) }
    }

    /// Performs an order; returns once the first samples are written, the file is closed, or the mark is saved.
    func perform(_ order: RecorderOrder) async -> Result<Answer, DeviceError> {
        await answer { .order(order, .now, $0) }
    }

    /// The state as the loop last published it.
    var snapshot: RecorderSnapshot { published.withLock { $0 } }

    /// The recordings that have not ended, by number.
    var live: [Int: RecordingSummary.Live] {
        var live: [Int: RecordingSummary.Live] = [:]
        for id in archive.begun {
            let now = snapshot
            if now.live?.id == id {
                live[id] = RecordingSummary.Live(now.state, length: now.live?.position ?? .zero)
            } else if let closing = now.lives[id] {
                // Its file is closed, but its row is not yet, for instance because the disk is slow.
                live[id] = RecordingSummary.Live(.stopping, length: closing.position)
            } else if now.isOpen, now.live == nil {
                live[id] = RecordingSummary.Live(.recording, length: .zero)
            }
        }
        return live
    }

    /// Whether the loop answers and, while recording, bytes reach the disk.
    func isAlive() async -> Bool {
        await withCheckedContinuation { reply in
            if !inbox.post(.isAlive(reply)) { reply.resume(returning: true) }
        }
    }

    /// Stops accepting work; does nothing and returns false while something is being recorded or copied.
    func prepareForRestart() async -> Bool {
        await withCheckedContinuation { reply in
            if !inbox.post(.retire(reply)) { reply.resume(returning: false) }
        }
    }

    func run() async {
        await withDiscardingTaskGroup { group in
            var loop = RecorderLoop(recorder: self)
            loop.begin(in: &group)
            for await message in inbox.messages { loop.handle(message, in: &group) }
            loop.end()
            lines.finish()
            group.cancelAll()
        }
    }

    /// Closes the current recording and ends the decode workers. The next start writes missing text.
    func stop() async {
        _ = await answer { .shutDown(.now, $0) }
        do { try archive.checkPlace() } catch { await archive.keepLog(true) }
        inbox.finish()
        await opened.lock()
        await workers.end()
    }

    private func answer(
        _ message: (RecorderMessage.Reply) -> RecorderMessage
    ) async -> Result<Answer, DeviceError> {
        await withCheckedContinuation { reply in
            if !inbox.post(message(reply)) { reply.resume(returning: .failure(RecorderState.isEndingError)) }
        }
    }
}

// Only for the loop.
extension Recorder {
    func publish(_ snapshot: RecorderSnapshot) { published.withLock { $0 = snapshot } }

    func write(_ line: LogLine) { lines.yield(line) }
}
