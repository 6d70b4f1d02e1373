import Archive
import Audio
import Core
import Maintenance
import Settings
import Synchronization
import System

/// Starts, marks and stops recordings. A recording is transcribed while it is made, and afterwards until its transcript
/// is complete.
///
/// Every event is a message to one loop (`RecorderLoop`), in which a pure state machine (`RecorderState`) decides what
/// to do. A new recording can start while earlier ones are still being transcribed.
final class Recorder: Service {
    /// The result of a command.
    struct Answer: Hashable, Sendable {
        /// The recording that was started, stopped, paused or marked, or the current one; nil if there is none.
        var recording: Int?
        /// For `mark`: the new bookmark.
        var mark: Bookmark?
        /// What the command changed; nil if nothing.
        var change: RecorderChange?
        /// The new state of `recording`; idle or faulted if the recording has ended.
        var state: Event.State?
    }

    /// The maximum number of lines that wait for the log. The oldest ones are dropped, so that the loop never blocks.
    private static let maximumQueuedLines = 1_024

    let name = "recorder"
    let configuration: Configuration
    let archive: SQLiteArchive
    /// Repairs that remain after the start; nil if there are none.
    let repairs: Repairs?
    /// Every event published here also reaches the recorder's loop, even if slow subscribers miss events.
    let hub: EventHub
    let panel: PanelController
    let workers: DecodeWorkers
    let secondPass = SecondPassProgress()
    /// Sealed recordings that a private key has opened.
    let opened: OpenedRecordings
    /// The microphone, which is open while idle if there is a pre-roll; or why there is none.
    let microphone: Result<PrerollMicrophone, DeviceError>
    let inbox: RecorderInbox

    let log: AsyncStream<LogLine>
    private let lines: AsyncStream<LogLine>.Continuation
    private let published = Mutex(RecorderSnapshot())

    /// Creates a recorder.
    ///
    /// - Parameter microphone: the source; nil for the configured microphone.
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
            let base = if let microphone { microphone } else { try configuration.microphone() }
            self.microphone = .success(PrerollMicrophone(base, seconds: configuration.capture.prerollSeconds))
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

    /// Performs a command. Returns once the first samples are written, the file is closed, or the mark is saved.
    func perform(_ command: RecorderCommand) async -> Result<Answer, DeviceError> {
        await answer { .command(command, .now, $0) }
    }

    /// The state that the loop published last.
    var snapshot: RecorderSnapshot { published.withLock { $0 } }

    /// The recordings that have not ended, by their numbers.
    var live: [Int: RecordingSummary.Live] {
        var live: [Int: RecordingSummary.Live] = [:]
        for id in archive.unendedRecordings {
            let now = snapshot
            if now.live?.id == id {
                live[id] = RecordingSummary.Live(now.state, length: now.live?.position ?? .zero)
            } else if let closing = now.activeRecordings[id] {
                // The file is closed, but the row does not say so yet, for example because the disk is slow.
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

    /// Stops accepting work; returns false and does nothing while a recording or a copy to a stick is running.
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

    /// Closes the current recording and stops the decode workers. After the next start, the rest is transcribed.
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

// For the loop only.
extension Recorder {
    func publish(_ snapshot: RecorderSnapshot) { published.withLock { $0 = snapshot } }

    func write(_ line: LogLine) { lines.yield(line) }
}
