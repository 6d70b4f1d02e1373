import Archive
import Audio
import Core
import Maintenance
import Settings
import Synchronization
import System

/// Starts, marks and stops recordings, whoever asks; each is transcribed while it grows, and after it as long as it takes.
///
/// All that happens reaches one loop (`RecorderLoop`), which asks a pure machine (`RecorderState`) what comes of it. A
/// recording that is being transcribed keeps no new one from starting.
final class Recorder: Service {
    /// What a button, a socket or a signal may ask for.
    enum Order: Hashable, Sendable {
        /// Does nothing where one goes on.
        case start
        /// Does nothing where none goes on. A start that waits for the recording before to be closed is taken back.
        case stop
        case toggle
        /// Marks the place that was recorded so long ago.
        case mark(text: String, ago: Duration)
        /// Takes nothing until `resume`; does nothing where it is paused.
        case pause
        /// Does nothing where it is not paused.
        case resume
    }

    /// What an order came to.
    struct Answer: Hashable, Sendable {
        /// The recording that it started, stopped, paused or marked, or that goes on; nil where there is none.
        var recording: Int?
        /// Of a `mark`: the bookmark as it was set.
        var mark: Bookmark?
    }

    /// How many lines the log may be behind; older ones are then left out, so that nobody waits for who reads it.
    private static let longestLog = 1_024

    let name = "recorder"
    let configuration: Configuration
    let archive: SQLiteArchive
    /// Recordings that are still to be looked at; nil: none are.
    let repairs: Repairs?
    /// Whatever is told there reaches the recorder as well, whoever else may miss it.
    let hub: EventHub
    let panel: PanelController
    let workers: DecodeWorkers
    let secondPass = SecondPassProgress()
    /// What is sealed, while a private key has opened it.
    let opened: OpenedRecordings
    /// Open while idle where there is a pre-roll; else it is opened for each recording. Why there is none, it says then.
    let microphone: Result<PrerollMicrophone, DeviceError>
    let inbox: RecorderInbox

    /// What the log is to say.
    let log: AsyncStream<LogLine>
    private let lines: AsyncStream<LogLine>.Continuation
    private let published = Mutex(RecorderSnapshot())

    /// - Parameters:
    ///   - repairs: what a start has left to be done.
    ///   - microphone: what is recorded; nil: what the configuration names.
    /// - Throws: `DeviceError` where no descriptors can be had.
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

    /// Carries out an order; returns when it is done: the first samples are written, the file is closed, the mark is kept.
    func perform(_ order: Order, reason: StopReason) async -> Result<Answer, DeviceError> {
        await answer { .order(order, reason, .now, $0) }
    }

    /// What the loop has come to.
    var snapshot: RecorderSnapshot { published.withLock { $0 } }

    /// Whether the loop runs and, while recording, bytes reach the disk.
    func isAlive() async -> Bool {
        await withCheckedContinuation { reply in
            if !inbox.post(.isAlive(reply)) { reply.resume(returning: true) }
        }
    }

    /// Has it begin nothing more, where nothing is being recorded or copied; false where something is.
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

    /// Closes the recording that goes on and ends the decode workers; what they had not read yet is left for later.
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

// For the loop alone.
extension Recorder {
    func publish(_ snapshot: RecorderSnapshot) { published.withLock { $0 = snapshot } }

    func write(_ line: LogLine) { lines.yield(line) }
}
