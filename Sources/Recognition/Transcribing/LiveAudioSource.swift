import Audio
import Core
import Synchronization

/// The audio of a growing recording. It is read from disk, so that a slow recognizer does not delay the recording and
/// queued audio needs no memory.
package final class LiveAudioSource: AudioSource {
    /// The maximum number of samples in a chunk: 2 s.
    private static let maximumChunk = Int64(2 * SamplePosition.rate)

    private struct State {
        var position: SamplePosition
        var reader: RecordingReader?
        var gaps: [Gap] = []
    }

    private let path: String
    private let progress: RecordingProgress
    private let state: Mutex<State>

    /// - Parameter progress: reports how much of the file can be read.
    package init(path: String, progress: RecordingProgress, start: SamplePosition = .zero) {
        self.path = path
        self.progress = progress
        state = Mutex(State(position: start))
    }

    /// Adds a gap. Call this before the progress includes audio after the gap.
    package func addGap(_ gap: Gap) { state.withLock { $0.gaps.append(gap) } }

    package func next() async throws -> AudioChunk? {
        let position = state.withLock { $0.position }
        switch await progress.next(after: position) {
        case .available(let end): return try read(from: position, to: end)
        case .ended: return nil
        case .cancelled: throw CancellationError()
        }
    }

    private func read(from start: SamplePosition, to end: SamplePosition) throws -> AudioChunk? {
        try state.withLock { state in
            let reader = try state.reader ?? RecordingReader(path: path)
            state.reader = reader
            if let gap = state.gaps.first, gap.range.start <= start {
                state.gaps.removeFirst()
                state.position = max(start, gap.range.end)
                return .gap(gap)
            }
            let end = min(end, start + Self.maximumChunk, state.gaps.first?.range.start ?? end)
            let samples = try [Int16](unsafeUninitializedCapacity: Int(end - start)) { buffer, count in
                count = try reader.read(at: start, into: buffer)
            }
            state.position = start + Int64(samples.count)
            return samples.isEmpty ? nil : .samples(samples)
        }
    }
}
