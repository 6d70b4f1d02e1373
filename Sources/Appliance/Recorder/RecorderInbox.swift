import Core
import Recognition

/// The queue of messages to the recorder's loop. It is unbounded, and posting never blocks.
struct RecorderInbox: Sendable {
    let messages: AsyncStream<RecorderMessage>
    private let posts: AsyncStream<RecorderMessage>.Continuation

    init() { (messages, posts) = AsyncStream<RecorderMessage>.makeStream() }

    /// Posts a message. Returns false if the queue no longer accepts messages.
    @discardableResult
    func post(_ message: RecorderMessage) -> Bool {
        if case .terminated = posts.yield(message) { return false }
        return true
    }

    /// Posts an input with the current time.
    func postInput(_ kind: RecorderInput.Kind) { post(.input(RecorderInput(kind, at: .now))) }

    /// Stops accepting messages. The loop still handles the earlier ones.
    func finish() { posts.finish() }
}

/// A message to the recorder's loop: an input for `RecorderState`, with the objects that the state machine does not
/// keep, or a query.
enum RecorderMessage: Sendable {
    typealias Reply = CheckedContinuation<Result<Recorder.Answer, DeviceError>, Never>

    case input(RecorderInput)
    case command(RecorderCommand, RecorderMoment, Reply)
    case shutDown(RecorderMoment, Reply)
    /// A recording was added to the archive. The pool is nil if no worker can be started.
    case opened(attempt: Int, LiveRecording, WorkerPool?, RecorderMoment)
    /// See `Recorder.prepareForRestart`.
    case prepareForRestart(CheckedContinuation<Bool, Never>)
    case isAlive(CheckedContinuation<Bool, Never>)
}
