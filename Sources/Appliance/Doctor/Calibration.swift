import Core
import Settings

/// The noise of a silent room, and the speech threshold for it.
package struct Calibration: Hashable, Sendable {
    /// In dBFS.
    package var floor: Double

    /// The level above which sound counts as speech, in dBFS and steps of 0.5 dB.
    package var threshold: Double

    /// Steady noise varies by less than this from frame to frame, speech by more than twice as much.
    private static let largestSpread = 12.0
    private static let leastFrames = 100

    /// Calculates the threshold from the levels of 20 ms frames, in dBFS.
    ///
    /// - Throws: `DeviceError` with `unsupported` and the reason if there is no usable threshold.
    init(levels: [Double], microphone: String) throws(DeviceError) {
        func refusal(_ reason: String) -> DeviceError {
            DeviceError(.unsupported, "calibrate", on: microphone, reason)
        }
        guard levels.count >= Self.leastFrames else {
            throw refusal("delivered less than 2 s of audio; check it with fieldscribe doctor")
        }
        var noise = NoiseFloor()
        for level in levels { noise.take(level) }
        let sorted = levels.sorted()
        let (low, high) = (sorted[sorted.count / 10], sorted[sorted.count * 9 / 10])
        floor = noise.decibels
        // From the quietest tenth of the frames to the loudest.
        let spread = high - low
        guard high > -95 else {
            throw refusal(
                "delivers digital silence; look for a mute switch, or raise the capture level with alsamixer -V capture"
            )
        }
        guard spread <= Self.largestSpread else {
            throw refusal(
                "the level varies by \(spread.oneDecimal) dB, as if somebody were speaking; be quiet and calibrate again"
            )
        }
        // Above the usual margin over the floor, and above the peaks of the noise itself.
        let usual = floor + 9
        let loudest = sorted[min(sorted.count - 1, sorted.count * 99 / 100)] + 3
        threshold = (max(usual, loudest, VoiceActivity.lowestThreshold) * 2).rounded() / 2
        guard threshold <= -20 else {
            throw refusal(
                "the room is at \(floor.oneDecimal) dBFS, too loud for speech to stand out; lower the capture level or "
                    + "find a quieter place")
        }
    }

    /// Measures the configured microphone.
    ///
    /// - Parameter progress: called with the progress, 0 to 1.
    /// - Throws: `DeviceError` of the microphone, or as `init(levels:microphone:)`.
    package static func measure(
        _ configuration: Configuration, seconds: Int, progress: @escaping @Sendable (Double) -> Void = { _ in }
    ) async throws -> Calibration {
        // The first half second has the device's own switch-on noise.
        let settling = 25
        let heard = await measured("calibrate") {
            let microphone = try configuration.microphone().open()
            var levels: [Double] = []
            levels.reserveCapacity(seconds * 50)
            var frames = FrameLevels()
            let length = Double(seconds) + 0.5
            var heard = 0
            let append = { (count: Int) in
                heard += count
                progress((Double(heard) / (length * Double(SamplePosition.rate))).asShare)
            }
            try listen(to: microphone, seconds: length) {
                frames.take($0) { levels.append($0) }
                append($0.count)
            } lost: {
                frames.restart()
                append($0)
            }
            return levels
        }
        return try Calibration(
            levels: Array(try heard.get().dropFirst(settling)), microphone: configuration.capture.device)
    }
}

extension Configuration {
    /// Saves a threshold in the configuration file, or in a new one; its owner and mode stay.
    ///
    /// - Parameter thresholdDecibels: in dBFS; rounded to one decimal.
    /// - Returns: the file's path.
    /// - Throws: `DeviceError` with `denied` if this user may not write the file, which is then unchanged.
    package func save(thresholdDecibels: Double) throws(DeviceError) -> String {
        let isWhole = thresholdDecibels == thresholdDecibels.rounded()
        return try save(
            "threshold-decibels", in: "speech",
            value: isWhole ? "\(Int(thresholdDecibels))" : thresholdDecibels.oneDecimal)
    }
}
