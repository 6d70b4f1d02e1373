/// How a board transcribes: the number of workers and the profile. The caller measures cores, memory and speed.
package struct DecodePlan: Hashable, Sendable {
    /// The number of workers, 1 or more.
    package var workers: Int

    /// The profile that keeps up with speech: `live`, or the engine's faster profile.
    package var profile: String

    /// Whether the board has time and memory for a second pass.
    package var secondPass: Bool

    /// Whether the plan keeps up with continuous speech; nil if the speed is not known.
    package var keepsPace: Bool?

    /// The memory for the rest of the system, including the recording.
    private static let reservedMegabytes = 320
    /// The minimum speed, relative to real time. A slower worker falls behind when anything else runs.
    private static let minimumSpeed = 1.5
    /// The minimum speed of a second pass, relative to real time. A slower one would never finish in daily use.
    private static let minimumSecondPassSpeed = 0.25

    /// Creates the plan for a board.
    ///
    /// - Parameters:
    ///   - memoryMegabytes: The total memory.
    ///   - liveSpeed: The seconds of audio that one worker decodes per second with the profile `live`; nil if not
    ///     measured.
    ///   - sharesModel: Whether workers share the model; see `WorkerCommand.makesCopies`.
    package init(
        cores: Int, memoryMegabytes: Int, liveSpeed: Double? = nil, sharesModel: Bool = true,
        cost: EngineCost = EngineCost()
    ) {
        guard memoryMegabytes >= cost.smallBoardMegabytes else {
            (workers, profile, secondPass) = (1, cost.fasterProfile ?? "live", false)
            keepsPace = liveSpeed.map { $0 * cost.fasterRatio >= Self.minimumSpeed }
            return
        }
        let spareMegabytes = memoryMegabytes - Self.reservedMegabytes - cost.firstMegabytes
        let workersInMemory =
            1 + max(0, spareMegabytes) / (sharesModel ? cost.additionalMegabytes : cost.unsharedMegabytes)
        workers = max(1, min(cores, workersInMemory, 64))
        guard let speed = liveSpeed, speed > 0 else {
            profile = "live"
            secondPass = spareMegabytes >= 0
            return
        }
        // Workers decode utterances concurrently, but only one worker decodes the utterance that is being spoken.
        let isFast = speed >= Self.minimumSpeed || cost.fasterProfile == nil
        profile = isFast ? "live" : cost.fasterProfile ?? "live"
        keepsPace = speed * (isFast ? 1 : cost.fasterRatio) * Double(workers) >= Self.minimumSpeed
        let secondPassSpeed = speed / cost.finalRatio * Double(workers)
        secondPass = spareMegabytes >= 0 && secondPassSpeed >= Self.minimumSecondPassSpeed
    }
}
