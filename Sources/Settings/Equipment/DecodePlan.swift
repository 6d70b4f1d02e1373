/// How a board transcribes: the number of workers and the profiles. The caller measures cores, memory and speed.
package struct DecodePlan: Hashable, Sendable {
    /// 1 or more.
    package var workers: Int

    /// The profile that keeps up with speech: `live`, or the engine's faster one.
    package var profile: String

    /// Whether the board has time and memory for a second pass.
    package var secondPass: Bool

    /// Whether the plan keeps up with continuous speech; nil if the speed is not known.
    package var keepsPace: Bool?

    /// The memory for the rest of the system, recording included, in megabytes.
    private static let reserve = 320
    /// Below this speed, a worker falls behind when anything else runs.
    private static let headroom = 1.5
    /// A second pass that takes more than four times the audio's length never finishes in daily use.
    private static let slowestSecondPass = 0.25

    /// Chooses the plan for a board.
    ///
    /// - Parameters:
    ///   - memoryMegabytes: the total memory.
    ///   - liveSpeed: seconds of audio that one worker decodes per second with the profile `live`; nil if not measured.
    ///   - sharesModel: whether workers share the model; see `WorkerCommand.makesCopies`.
    package init(
        cores: Int, memoryMegabytes: Int, liveSpeed: Double? = nil, sharesModel: Bool = true,
        cost: EngineCost = EngineCost()
    ) {
        guard memoryMegabytes >= cost.smallBoardMegabytes else {
            (workers, profile, secondPass) = (1, cost.faster ?? "live", false)
            keepsPace = liveSpeed.map { $0 * cost.fasterRatio >= Self.headroom }
            return
        }
        let room = memoryMegabytes - Self.reserve - cost.firstMegabytes
        let byMemory = 1 + max(0, room) / (sharesModel ? cost.furtherMegabytes : cost.aloneMegabytes)
        workers = max(1, min(cores, byMemory, 64))
        guard let speed = liveSpeed, speed > 0 else {
            profile = "live"
            secondPass = room >= 0
            return
        }
        // Workers decode utterances concurrently, but only one worker reads the utterance that is being spoken.
        let isFast = speed >= Self.headroom || cost.faster == nil
        profile = isFast ? "live" : cost.faster ?? "live"
        keepsPace = speed * (isFast ? 1 : cost.fasterRatio) * Double(workers) >= Self.headroom
        let second = speed / cost.finalRatio * Double(workers)
        secondPass = room >= 0 && second >= Self.slowestSecondPass
    }
}
