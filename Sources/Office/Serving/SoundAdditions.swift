import Synchronization
import System

/// Sound files that are transcribed one after the other, and their results.
final class SoundAdditions: Sendable {
    enum State: Sendable {
        case waiting
        case done(DroppedFiles.Outcome)
    }

    /// Results to keep.
    private static let most = 1_000

    private let states = Mutex<[(key: String, state: State)]>([])
    private let thread = WorkThread(named: "sounds", niceness: 1)

    /// Starts a body; bodies run one after the other.
    func start(_ key: String, _ body: @escaping @Sendable () -> DroppedFiles.Outcome) {
        states.withLock { states in
            if states.count >= Self.most { states.removeFirst() }
            states.append((key, .waiting))
        }
        thread.start { [weak self] in
            let outcome = body()
            self?.states.withLock { states in
                guard let place = states.firstIndex(where: { $0.key == key }) else { return }
                states[place].state = .done(outcome)
            }
        }
    }

    /// Returns the state of a sound file; nil for an unknown key.
    func state(of key: String) -> State? { states.withLock { $0.first { $0.key == key }?.state } }
}
