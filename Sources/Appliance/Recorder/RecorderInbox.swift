/// Where all that happens reaches the recorder's loop, in order; nothing is ever left out, and nobody who posts waits.
struct RecorderInbox: Sendable {
    let messages: AsyncStream<RecorderMessage>
    private let posts: AsyncStream<RecorderMessage>.Continuation

    init() { (messages, posts) = AsyncStream<RecorderMessage>.makeStream() }

    /// Returns false where the loop takes nothing more.
    @discardableResult
    func post(_ message: RecorderMessage) -> Bool {
        if case .terminated = posts.yield(message) { return false }
        return true
    }

    /// Tells the machine something, as of now.
    func tell(_ kind: RecorderInput.Kind) { post(.input(RecorderInput(kind, at: .now))) }

    /// Nothing more is taken; what was posted before is still carried out.
    func finish() { posts.finish() }
}
