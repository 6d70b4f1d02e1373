/// A module's results, in chronological order, as an asynchronous sequence.
///
/// It ends when the analysis ends, and throws ``SFSpeechError`` if the analysis failed. A slow consumer loses no final
/// results: the analysis waits while a thousand of them are queued. Only the latest volatile result is queued. Iterate
/// over the sequence in only one task.
public struct SpeechResults<Element: Sendable>: AsyncSequence, Sendable {
    let queue: AsyncQueue<Element>

    /// Returns an iterator that starts with the first unread result.
    public func makeAsyncIterator() -> Iterator { Iterator(queue: queue) }

    /// Reads results.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let queue: AsyncQueue<Element>

        /// Waits for the next result. Returns nil at the end or if the task is cancelled.
        ///
        /// - Throws: ``SFSpeechError`` if the analysis failed.
        public mutating func next() async throws -> Element? { try await queue.next() }
    }
}
