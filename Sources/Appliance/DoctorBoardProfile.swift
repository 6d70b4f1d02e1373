/// What suits a board: how many decode workers, whether a second pass, and when the text comes.
package struct BoardProfile: Hashable, Sendable {
    /// A worker with Debian's en-us model, measured at 90 to 110 MB; the rest of the machine keeps 250.
    private static let workerMegabytes = 110
    private static let othersMegabytes = 250

    /// The second pass costs about three times the first.
    private static let secondPassCost = 3.0

    package var workers: Int
    package var secondPass: Bool

    /// Whether the text keeps up with speech; else it is written after the recording has ended.
    package var isLive: Bool

    /// One core is left to the recording where there are more than two.
    package init(_ board: DoctorFacts.Board, decoder: DoctorFacts.Decoder) {
        let byMemory = (board.memoryMegabytes - Self.othersMegabytes) / Self.workerMegabytes
        let byCores = board.cores > 2 ? board.cores - 1 : board.cores
        workers = max(1, min(byMemory, byCores))
        let speed = decoder.timesRealTime * Double(workers)
        isLive = speed >= 1.2
        // It is done by night where it takes at most twice as long as the recording.
        secondPass = speed / Self.secondPassCost >= 0.5
    }

    /// As the configuration file says it.
    package var settings: [String] {
        ["workers = \(workers)", "second-pass = \(secondPass ? "yes" : "no")"]
    }

    var words: String {
        let when = isLive ? "the text keeps up with speech" : "the text is written after the recording"
        return "suits this board: \(workers) \(workers == 1 ? "worker" : "workers"), "
            + "\(secondPass ? "a" : "no") second pass; \(when)"
    }
}
