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
