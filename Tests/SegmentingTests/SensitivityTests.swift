import Testing

@testable import Core

@Suite("Sensitivity") struct SensitivityTests {
    @Test(
        "sound near the threshold is speech only if the sensitivity is high enough; loud sound always is",
        arguments: [
            (SpeechSettings.Sensitivity.low, [false, false, true]), (.medium, [false, true, true]),
            (.high, [true, true, true]),
        ])
    func levels(sensitivity: SpeechSettings.Sensitivity, isSpeech: [Bool]) {
        for (level, expected) in zip([-42.0, -39, -34], isSpeech) {
            var settings = SpeechSettings()
            settings.sensitivity = sensitivity
            settings.threshold = .fixed(decibels: -41)
            var activity = VoiceActivity(settings: settings)
            for _ in 0..<20 { _ = activity.handle(level) }
            #expect(activity.isSpeech == expected, "\(sensitivity) at \(level) dBFS")
        }
    }
}
