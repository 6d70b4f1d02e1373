import Synchronization
import System

/// Whether a signal asked this process to exit.
enum Stop {
    private static let wanted = Atomic(false)

    static var isWanted: Bool { wanted.load(ordering: .relaxed) }

    static func prepare() { EndingSignals.handle { wanted.store(true, ordering: .relaxed) } }
}
