/// How a board transcribes: with how many workers, and with which profiles.
///
/// Pure: cores, memory and speed are measured by whoever asks.
package struct DecodePlan: Hashable, Sendable {
    /// What a board has to offer.
    package struct Board: Hashable, Sendable {
        /// Processors that are on line.
        var cores: Int

        /// Its memory as a whole, in megabytes.
        var memoryMegabytes: Int

        /// Seconds of audio that one worker decodes in a second with the profile `live`; nil where not measured.
        var liveSpeed: Double?

        /// What the engine takes.
        var cost: EngineCost

        /// Whether its workers share the model, as `WorkerCommand.makesCopies`.
        var sharesModel: Bool

        package init(
            cores: Int, memoryMegabytes: Int, liveSpeed: Double? = nil, sharesModel: Bool = true,
            cost: EngineCost = EngineCost()
        ) {
            self.cost = cost
            self.cores = cores
            self.memoryMegabytes = memoryMegabytes
            self.liveSpeed = liveSpeed
            self.sharesModel = sharesModel
        }
    }

    /// Decode workers, 1 or more.
    package var workers: Int

    /// Names the profile that keeps pace with speech: `live`, or the engine's faster one.
    package var profile: String

    /// Whether the board has time and memory for a second pass.
    package var secondPass: Bool

    /// Whether the plan keeps pace with someone who never stops speaking; nil where the speed is not known.
    package var keepsPace: Bool?

    /// What the rest of a small board's system needs, recording included.
    private static let reserve = 320
    /// A worker whose speed is below this falls behind as soon as anything else runs.
    private static let headroom = 1.5
    /// A second pass that takes longer than four times the audio never comes to an end in daily use.
    private static let slowestSecondPass = 0.25

    /// What suits a board.
    package init(for board: Board) {
        let cost = board.cost
        guard board.memoryMegabytes >= cost.smallBoardMegabytes else {
            (workers, profile, secondPass) = (1, cost.faster ?? "live", false)
            keepsPace = board.liveSpeed.map { $0 * cost.fasterRatio >= Self.headroom }
            return
        }
        let room = board.memoryMegabytes - Self.reserve - cost.firstMegabytes
        let byMemory = 1 + max(0, room) / (board.sharesModel ? cost.furtherMegabytes : cost.aloneMegabytes)
        workers = max(1, min(board.cores, byMemory, 64))
        guard let speed = board.liveSpeed, speed > 0 else {
            profile = "live"
            secondPass = room >= 0
            return
        }
        // Utterances are decoded beside each other, but one that is being spoken by one worker alone.
        let isFast = speed >= Self.headroom || cost.faster == nil
        profile = isFast ? "live" : cost.faster ?? "live"
        keepsPace = speed * (isFast ? 1 : cost.fasterRatio) * Double(workers) >= Self.headroom
        let second = speed / cost.finalRatio * Double(workers)
        secondPass = room >= 0 && second >= Self.slowestSecondPass
    }
}
