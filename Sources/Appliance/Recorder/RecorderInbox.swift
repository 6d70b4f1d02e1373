import Core
import Recognition

/// The queue of messages to the recorder's loop: in order, unbounded, and posting never blocks.
struct RecorderInbox: Sendable {
    let messages: AsyncStream<RecorderMessage>
    private let posts: AsyncStream<RecorderMessage>.Continuation

    init() { (messages, posts) = AsyncStream<RecorderMessage>.makeStream() }

    /// Posts a message; returns false if the loop has ended.
    @discardableResult
    func post(_ message: RecorderMessage) -> Bool {
        if case .terminated = posts.yield(message) { return false }
        return true
    }

    /// Posts an input with the time now.
    func tell(_ kind: RecorderInput.Kind) { post(.input(RecorderInput(kind, at: .now))) }

    /// Accepts no more messages; earlier ones are still handled.
    func finish() { posts.finish() }
}

/// A message to the recorder's loop: an input of `RecorderState`, with the objects that belong to it.
enum RecorderMessage: Sendable {
    typealias Reply = CheckedContinuation<Result<Recorder.Answer, DeviceError>, Never>

    case input(RecorderInput)
    case order(RecorderOrder, RecorderMoment, Reply)
    case shutDown(RecorderMoment, Reply)
    /// A recording was added to the archive; its pool is nil if no worker can be started.
    case opened(attempt: Int, LiveRecording, WorkerPool?, RecorderMoment)
    /// See `Recorder.prepareForRestart`.
    case retire(CheckedContinuation<Bool, Never>)
    case isAlive(CheckedContinuation<Bool, Never>)
}
