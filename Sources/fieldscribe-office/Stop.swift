import System

/// Whether a signal asked this process to exit.
enum Stop {
    private static let flag = StopFlag()

    static var isWanted: Bool { flag.isRaised }

    static func prepare() { EndingSignals.handle { flag.raise() } }
}
