import Core
import Synchronization
import System

/// The status line of a transcription: progress of all files, and speed.
final class ProgressBar: Sendable {
    struct File {
        var length: SamplePosition?
        var reached = SamplePosition.zero
        var hasEnded = false
    }

    private struct State {
        var files: [Int: File] = [:]
        var drawnAt: Int64 = 0
    }

    private static let interval: Int64 = 100_000_000

    let count: Int
    private let began = MonotonicClock.nanoseconds
    private let state = Mutex(State())

    init(files: Int) { count = files }

    /// Adds a file; its length is nil if the header does not contain it.
    func opened(_ index: Int, length: SamplePosition?) {
        state.withLock { $0.files[index] = File(length: length) }
    }

    func ended(_ index: Int) { state.withLock { $0.files[index]?.hasEnded = true } }

    func reached(_ index: Int, _ position: SamplePosition) {
        guard Terminal.showsErrors else { return }
        let now = MonotonicClock.nanoseconds
        state.withLock { state in
            guard var file = state.files[index], position > file.reached else { return }
            file.reached = position
            state.files[index] = file
            guard now - state.drawnAt >= Self.interval else { return }
            state.drawnAt = now
            TerminalStatusLine.show(line(state.files, seconds: Double(now - began) / 1e9))
        }
    }

    func line(_ files: [Int: File], seconds: Double) -> String {
        let done = files.values.reduce(0) { $0 + $1.reached.seconds }
        let speed = "\(Self.tenths(done / max(seconds, 0.001))) x real time"
        let names = count == 1 ? "" : "\(files.values.count(where: \.hasEnded)) of \(count) files  "
        let lengths = files.values.compactMap(\.length?.seconds)
        let total = lengths.reduce(0, +)
        guard lengths.count == count, total > 0 else {
            return "  \(names)\(RecordingScreen.clock(seconds: done))  \(speed)"
        }
        let fraction = (done / total).asShare
        let left = Self.timeLeft(fraction: fraction, seconds: seconds).map { ", \($0) left" } ?? ""
        let clock = RecordingScreen.clock(seconds:)
        let text = "  \(names)\(clock(done)) of \(clock(total))  \(speed)\(left)"
        return Self.bar(fraction, text, width: Terminal.width)
    }

    /// Returns a bar, its percentage and a text. The bar is shortened to fit `width` columns.
    static func bar(_ fraction: Double, _ text: String, width: Int) -> String {
        let cells = max(0, min(40, width - text.count - 10))
        let filled = Int(fraction * Double(cells))
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: cells - filled)
        return "[\(bar)] \(Int(fraction * 100)) %\(text)"
    }

    /// Returns the estimated time left, such as `00:40`; nil at the beginning, when there is no estimate yet.
    static func timeLeft(fraction: Double, seconds: Double) -> String? {
        guard fraction >= 0.02, seconds >= 1 else { return nil }
        return RecordingScreen.clock(seconds: (seconds * (1 - fraction) / fraction).rounded(.up))
    }

    /// Returns the number rounded to one decimal place.
    static func tenths(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }
}

/// The status line of one task: a bar, the name of the task, and the time left.
final class TaskProgressBar: Sendable {
    private static let interval: Int64 = 100_000_000

    private let task: String
    private let began = MonotonicClock.nanoseconds
    private let drawnAt = Mutex(Int64.min)

    /// - Parameter task: what is done, such as "adding talk.wav".
    init(_ task: String) { self.task = task }

    /// Shows the completed fraction of the task, 0 to 1.
    func update(_ fraction: Double) {
        let now = MonotonicClock.nanoseconds
        let isDue = drawnAt.withLock { drawnAt in
            guard drawnAt == .min || now - drawnAt >= Self.interval else { return false }
            drawnAt = now
            return true
        }
        guard isDue else { return }
        TerminalStatusLine.show(
            Self.line(task, fraction: fraction, seconds: Double(now - began) / 1e9, width: Terminal.width))
    }

    static func line(_ task: String, fraction: Double, seconds: Double, width: Int) -> String {
        let left = ProgressBar.timeLeft(fraction: fraction.asShare, seconds: seconds).map { ", \($0) left" } ?? ""
        let text = "  \(task)\(left)".prefix(max(0, width - 10))
        return ProgressBar.bar(fraction.asShare, String(text), width: width)
    }
}
