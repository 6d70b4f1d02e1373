import Testing

@testable import Core

@Suite("Sensitivity") struct SensitivityTests {
    @Test(
        "sound slightly above the noise is speech only at high sensitivity; far above the noise, at any",
        arguments: [
            (SpeechSettings.Sensitivity.low, [false, false, true]), (.medium, [false, true, true]),
            (.high, [true, true, true]),
        ])
    func levels(sensitivity: SpeechSettings.Sensitivity, isSpeech: [Bool]) {
        for (above, expected) in zip([8.0, 11, 16], isSpeech) {
            var settings = SpeechSettings()
            settings.sensitivity = sensitivity
            settings.threshold = .fixed(decibels: -41)
            var activity = VoiceActivity(settings: settings)
            for _ in 0..<20 { _ = activity.handle(-50 + above) }
            #expect(activity.isSpeech == expected, "\(sensitivity) at \(above) dB")
        }
    }
}
