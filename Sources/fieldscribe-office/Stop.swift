import Glibc
import Synchronization

/// Whether somebody wants this process to end: told by signals.
enum Stop {
    private static let wanted = Atomic(false)

    static var isWanted: Bool { wanted.load(ordering: .relaxed) }

    static func prepare() {
        // It is made before a signal asks for it.
        _ = isWanted
        for number in [SIGINT, SIGTERM, SIGHUP] { signal(number) { _ in Stop.wanted.store(true, ordering: .relaxed) } }
    }
}
