import Core
import Recognition
import Synchronization

/// The audio for one module, in a queue of about two seconds.
final class AudioInput: AudioSource {
    private static let capacity = 2 * SamplePosition.rate

    let queue = AsyncQueue<AudioChunk>(capacity: capacity) { chunk in
        if case .samples(let samples) = chunk { samples.count } else { 1 }
    }
    private let pending = Mutex<[AudioChunk]>([])

    func next() async throws -> AudioChunk? {
        if let chunk = nextPending() { return chunk }
        guard let chunks = try await queue.nextAll() else {
            try Task.checkCancellation()
            return nil
        }
        let joined = Self.joined(chunks)
        pending.withLock { $0 = joined }
        return nextPending()
    }

    private func nextPending() -> AudioChunk? { pending.withLock { $0.isEmpty ? nil : $0.removeFirst() } }

    /// Joins the small buffers of live audio.
    private static func joined(_ chunks: [AudioChunk]) -> [AudioChunk] {
        var joined: [AudioChunk] = []
        var samples: [Int16] = []
        for chunk in chunks {
            switch chunk {
            case .samples(let newSamples): samples += newSamples
            case .gap:
                if !samples.isEmpty { joined.append(.samples(samples)) }
                samples = []
                joined.append(chunk)
            }
        }
        if !samples.isEmpty { joined.append(.samples(samples)) }
        return joined
    }
}
