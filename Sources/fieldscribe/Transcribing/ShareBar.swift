import Core
import Synchronization
import System

/// The status line of one task: a bar, what is done, and the time left.
final class ShareBar: Sendable {
    private static let interval: Int64 = 100_000_000

    private let what: String
    private let began = MonotonicClock.nanoseconds
    private let drawnAt = Mutex(Int64.min)

    /// - Parameter what: names the task.
    init(_ what: String) { self.what = what }

    /// Shows the share that is done, 0 to 1.
    func reached(_ share: Double) {
        let now = MonotonicClock.nanoseconds
        let isDue = drawnAt.withLock { drawnAt in
            guard drawnAt == .min || now - drawnAt >= Self.interval else { return false }
            drawnAt = now
            return true
        }
        guard isDue else { return }
        TerminalStatusLine.show(
            Self.line(what, share: share, seconds: Double(now - began) / 1e9, width: Terminal.width))
    }

    static func line(_ what: String, share: Double, seconds: Double, width: Int) -> String {
        let left = ProgressBar.timeLeft(share: share.asShare, seconds: seconds).map { ", \($0) left" } ?? ""
        let text = "  \(what)\(left)".prefix(max(0, width - 10))
        return ProgressBar.bar(share.asShare, String(text), width: width)
    }
}
