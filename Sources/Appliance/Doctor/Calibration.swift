import Core
import Settings

/// The noise floor of a silent room, and the speech threshold for it.
package struct Calibration: Hashable, Sendable {
    /// The noise floor, in dBFS.
    package var floor: Double

    /// The level above which sound counts as speech, in dBFS, rounded to 0.5 dB.
    package var threshold: Double

    /// The maximum spread of the levels of steady noise, in dB. The spread of speech is more than twice as large.
    private static let maximumSpread = 12.0
    private static let minimumFrames = 100

    /// Calculates the threshold from the levels of 20 ms frames, in dBFS.
    ///
    /// - Throws: `DeviceError` with `unsupported` and the reason if no threshold would work.
    init(levels: [Double], microphone: String) throws(DeviceError) {
        func failure(_ reason: String) -> DeviceError {
            DeviceError(.unsupported, "calibrate", on: microphone, reason)
        }
        guard levels.count >= Self.minimumFrames else {
            throw failure("delivered less than 2 s of audio; check it with fieldscribe doctor")
        }
        var noise = NoiseFloor()
        for level in levels { noise.append(level) }
        let sorted = levels.sorted()
        let (low, high) = (sorted[sorted.count / 10], sorted[sorted.count * 9 / 10])
        floor = noise.decibels
        // The spread excludes the quietest and the loudest tenth of the frames.
        let spread = high - low
        guard high > -95 else {
            throw failure(
                "delivers digital silence; look for a mute switch, or raise the capture level with alsamixer -V capture"
            )
        }
        guard spread <= Self.maximumSpread else {
            throw failure(
                "the level varies by \(spread.oneDecimal) dB, as if somebody were speaking; be quiet and calibrate again"
            )
        }
        // The threshold is at least 9 dB above the floor and 3 dB above the peaks of the noise.
        let aboveFloor = floor + 9
        let abovePeaks = sorted[min(sorted.count - 1, sorted.count * 99 / 100)] + 3
        threshold = (max(aboveFloor, abovePeaks, VoiceActivity.minimumThreshold) * 2).rounded() / 2
        guard threshold <= -20 else {
            throw failure(
                "the room is at \(floor.oneDecimal) dBFS, too loud for speech to stand out; lower the capture level or "
                    + "find a quieter place")
        }
    }

    /// Measures the configured microphone.
    ///
    /// - Parameter progress: called with the completed fraction of the measurement, 0 to 1.
    /// - Throws: `DeviceError` from the microphone or from `init(levels:microphone:)`.
    package static func measure(
        _ configuration: Configuration, seconds: Int, progress: @escaping @Sendable (Double) -> Void = { _ in }
    ) async throws -> Calibration {
        // The first half second contains the noise of the device being switched on.
        let settlingFrames = 25
        let measurement = await measured("calibrate") {
            let microphone = try configuration.microphone().open()
            var levels: [Double] = []
            levels.reserveCapacity(seconds * 50)
            var frames = FrameLevels()
            let length = Double(seconds) + 0.5
            var sampleCount = 0
            let addToProgress = { (samples: Int) in
                sampleCount += samples
                progress((Double(sampleCount) / (length * Double(SamplePosition.rate))).asShare)
            }
            try listen(to: microphone, seconds: length) {
                frames.append($0) { levels.append($0) }
                addToProgress($0.count)
            } lost: {
                frames.restart()
                addToProgress($0)
            }
            return levels
        }
        return try Calibration(
            levels: Array(try measurement.get().dropFirst(settlingFrames)), microphone: configuration.capture.device)
    }
}

extension Configuration {
    /// Saves a threshold in the configuration file, and creates the file if there is none. The owner and mode of an
    /// existing file do not change.
    ///
    /// - Parameter thresholdDecibels: in dBFS; rounded to one decimal place.
    /// - Returns: the path of the file.
    /// - Throws: `DeviceError` with `denied` if this user may not write the file.
    package func save(thresholdDecibels: Double) throws(DeviceError) -> String {
        let isWhole = thresholdDecibels == thresholdDecibels.rounded()
        return try save(
            "threshold-decibels", in: "speech",
            value: isWhole ? "\(Int(thresholdDecibels))" : thresholdDecibels.oneDecimal)
    }
}
