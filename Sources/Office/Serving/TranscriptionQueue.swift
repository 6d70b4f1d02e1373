import Synchronization
import System

/// Transcribes audio files one after the other, and keeps the results.
final class TranscriptionQueue: Sendable {
    enum State: Sendable {
        case waiting
        case done(DroppedFiles.Outcome)
    }

    /// The maximum number of files whose states are kept.
    private static let maximumStates = 1_000

    private let states = Mutex<[(key: String, state: State)]>([])
    private let thread = WorkThread(named: "sounds", niceness: 1)

    /// Runs `body` on another thread after all earlier files.
    func start(_ key: String, _ body: @escaping @Sendable () -> DroppedFiles.Outcome) {
        states.withLock { states in
            if states.count >= Self.maximumStates { states.removeFirst() }
            states.append((key, .waiting))
        }
        thread.start { [weak self] in
            let outcome = body()
            self?.states.withLock { states in
                guard let index = states.firstIndex(where: { $0.key == key }) else { return }
                states[index].state = .done(outcome)
            }
        }
    }

    /// Returns the state of an audio file; nil for an unknown key.
    func state(of key: String) -> State? { states.withLock { $0.first { $0.key == key }?.state } }
}
