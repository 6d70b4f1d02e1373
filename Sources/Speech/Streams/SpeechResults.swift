/// The results of a module, in chronological order, as an asynchronous sequence.
///
/// It ends when the analysis ends, and throws ``SFSpeechError`` if that failed. A slow consumer loses no final result: the analysis
/// waits once a thousand of them are queued. Of volatile results, only the latest is queued. Iterate it in one task.
public struct SpeechResults<Element: Sendable>: AsyncSequence, Sendable {
    let queue: AsyncQueue<Element>

    /// Starts with the results that nobody has read yet.
    public func makeAsyncIterator() -> Iterator { Iterator(queue: queue) }

    /// Reads results.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let queue: AsyncQueue<Element>

        /// Waits for the next result; nil at the end, and if the task is cancelled.
        ///
        /// - Throws: ``SFSpeechError``.
        public mutating func next() async throws -> Element? { try await queue.next() }
    }
}
