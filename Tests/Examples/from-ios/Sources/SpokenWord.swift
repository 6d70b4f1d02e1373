import Foundation
import Speech

/// Recognizes live speech as an app does: a button starts and stops the recording, and a text view shows the text.
///
/// Only the lines marked with `audio` differ from an iOS app, which would install a tap on an `AVAudioEngine`.
@MainActor final class SpokenWord: SFSpeechRecognizerDelegate {
    private let speechRecognizer: SFSpeechRecognizer
    private var recognitionRequest: SFSpeechAudioBufferRecognitionRequest?
    private var recognitionTask: SFSpeechRecognitionTask?
    private let microphone: Microphone  // audio
    private var recording: Task<Void, Never>?  // audio

    /// Replaces the app's text view: each change is printed.
    private(set) var text = "" {
        didSet { if text != oldValue { FileHandle.standardOutput.write(Data("\(text)\n".utf8)) } }
    }

    /// Called after a recording ends.
    var didEnd: ((any Error)?) -> Void = { _ in }

    init?(device: String) {
        guard let speechRecognizer = SFSpeechRecognizer(locale: Locale(identifier: "en-US")) else { return nil }
        self.speechRecognizer = speechRecognizer
        microphone = Microphone(device: device)  // audio
        speechRecognizer.delegate = self
    }

    func recordButtonTapped() {
        if recording != nil {
            stopAudio()
            recognitionRequest?.endAudio()
        } else {
            startRecording()
        }
    }

    private func startRecording() {
        recognitionTask?.cancel()
        recognitionTask = nil
        let request = SFSpeechAudioBufferRecognitionRequest()
        recognitionRequest = request
        request.shouldReportPartialResults = true
        request.requiresOnDeviceRecognition = true
        recognitionTask = speechRecognizer.recognitionTask(with: request) { result, error in
            Task { @MainActor in self.handle(result, error) }
        }
        recording = Task { [microphone] in  // audio
            do {  // audio
                for try await input in microphone { request.append(input.buffer) }  // audio
            } catch { self.handle(nil, error) }  // audio
        }
    }

    private func handle(_ result: SFSpeechRecognitionResult?, _ error: (any Error)?) {
        var isFinal = false
        if let result {
            text = result.bestTranscription.formattedString
            isFinal = result.isFinal
        }
        if error != nil || isFinal {
            stopAudio()
            recognitionRequest = nil
            recognitionTask = nil
            didEnd(error)
        }
    }

    private func stopAudio() {
        recording?.cancel()  // audio
        recording = nil  // audio
    }

    nonisolated func speechRecognizer(_ speechRecognizer: SFSpeechRecognizer, availabilityDidChange available: Bool) {
        print(available ? "Recognition is available." : "Recognition is not available.")
    }
}
