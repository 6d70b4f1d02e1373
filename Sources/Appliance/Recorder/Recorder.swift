import Archive
import Audio
import Core
import Maintenance
import Settings
import Synchronization
import System

/// Starts, marks and stops recordings. A recording is transcribed while it is being made and, if necessary, afterwards.
///
/// Every event is a message to one loop (`RecorderLoop`), in which a pure state machine (`RecorderState`) decides what
/// to do. A new recording can start while earlier ones are still being transcribed.
final class Recorder: Service {
    /// The result of a command.
    struct Answer: Hashable, Sendable {
        /// The number of the recording that the command concerns; nil if there is none.
        var recording: Int?
        /// For `mark`: the new bookmark.
        var mark: Bookmark?
        /// What the command changed; nil if nothing.
        var change: RecorderChange?
        /// See `ControlResponse.state`.
        var state: Event.State?
    }

    /// The maximum number of lines that wait for the log. Older lines are dropped, so that the loop never blocks.
    private static let maximumQueuedLines = 1_024

    let name = "recorder"
    let configuration: Configuration
    let archive: SQLiteArchive
    /// Repairs that remain after the start; nil if there are none.
    let repairs: Repairs?
    /// Events that affect the recorder's state also reach its loop, even if slow subscribers miss them.
    let hub: EventHub
    let panel: PanelController
    let workers: DecodeWorkers
    let secondPass = SecondPassProgress()
    /// Sealed recordings that a private key has opened.
    let opened: OpenedRecordings
    /// The microphone, or why the configured one cannot be used. If there is a pre-roll, it is open even while nothing
    /// is being recorded.
    let microphone: Result<PrerollMicrophone, DeviceError>
    let inbox: RecorderInbox

    let log: AsyncStream<LogLine>
    private let lines: AsyncStream<LogLine>.Continuation
    private let published = Mutex(RecorderSnapshot())

    /// Creates a recorder.
    ///
    /// - Parameter microphone: the microphone to use instead of the configured one.
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
        (log, lines) = AsyncStream<LogLine>.makeStream(bufferingPolicy: .bufferingNewest(Self.maximumQueuedLines))
        do throws(DeviceError) {
            let source = if let microphone { microphone } else { try configuration.microphone() }
            self.microphone = .success(PrerollMicrophone(source, seconds: configuration.capture.prerollSeconds))
        } catch { self.microphone = .failure(error) }
        hub = EventHub { event in
            switch event {
            case .level, .partial, .final, .rotation: break
            case .state, .gap, .mark, .fault, .export, .laptop, .opened: inbox.postInput(.event(event))
            }
        }
        panel = try PanelController { event in inbox.postInput(.button(event)) }
        opened = OpenedRecordings(
            storage: configuration.storage.directory, archive: archive,
            in: [folder(of: configuration.control.socket), "/dev/shm"]
        ) { [hub] state in hub.publish(.opened(recordings: state?.recordings ?? [])) }
    }

    /// Performs a command. A start returns once the first samples are written, a stop once the file is closed, and a
    /// mark once it is saved.
    func perform(_ command: RecorderCommand) async -> Result<Answer, DeviceError> {
        await answer { .command(command, .now, $0) }
    }

    /// The state that the loop published last.
    var snapshot: RecorderSnapshot { published.withLock { $0 } }

    /// The recordings that have not ended, by their numbers.
    var live: [Int: RecordingSummary.Live] {
        var live: [Int: RecordingSummary.Live] = [:]
        for id in archive.unendedRecordings {
            let snapshot = self.snapshot
            if snapshot.live?.id == id {
                live[id] = RecordingSummary.Live(snapshot.state, length: snapshot.live?.position ?? .zero)
            } else if let closing = snapshot.activeRecordings[id] {
                // The file is closed, but the recording's row does not say so yet, for example because the disk is
                // slow.
                live[id] = RecordingSummary.Live(.stopping, length: closing.position)
            } else if snapshot.isOpen, snapshot.live == nil {
                live[id] = RecordingSummary.Live(.recording, length: .zero)
            }
        }
        return live
    }

    /// Returns whether bytes reach the disk; true if nothing is being recorded. Does not return if the loop hangs.
    func isAlive() async -> Bool {
        await withCheckedContinuation { reply in
            if !inbox.post(.isAlive(reply)) { reply.resume(returning: true) }
        }
    }

    /// Stops accepting work before a restart. Does nothing and returns false if the appliance cannot restart now; see
    /// `RecorderState.canRestart`.
    func prepareForRestart() async -> Bool {
        await withCheckedContinuation { reply in
            if !inbox.post(.prepareForRestart(reply)) { reply.resume(returning: false) }
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

    /// Closes the current recording and stops the decode workers. The next start transcribes the rest.
    func stop() async {
        _ = await answer { .shutDown(.now, $0) }
        do { try archive.checkLocation() } catch { await archive.keepLog(true) }
        inbox.finish()
        await opened.lock()
        await workers.end()
    }

    private func answer(
        _ message: (RecorderMessage.Reply) -> RecorderMessage
    ) async -> Result<Answer, DeviceError> {
        await withCheckedContinuation { reply in
            if !inbox.post(message(reply)) { reply.resume(returning: .failure(RecorderState.shutdownError)) }
        }
    }
}

// Called only by the loop.
extension Recorder {
    func publish(_ snapshot: RecorderSnapshot) { published.withLock { $0 = snapshot } }

    func write(_ line: LogLine) { lines.yield(line) }
}
