import Foundation
import Speech

// live-captions [DEVICE]: shows live captions for a microphone until it is interrupted.
let transcriber = SpeechTranscriber(locale: Locale(identifier: "en-US"), preset: .progressiveTranscription)
let analyzer = SpeechAnalyzer(modules: [transcriber])
let microphone = Microphone(device: CommandLine.arguments.dropFirst().first ?? "default")

do {
    try await analyzer.prepareToAnalyze()
    try await analyzer.start(inputSequence: microphone)
    for try await result in transcriber.results {
        // A volatile line is overwritten by the next result.
        let line = "\r\u{1B}[K" + String(result.text.characters) + (result.isFinal ? "\n" : "")
        FileHandle.standardOutput.write(Data(line.utf8))
    }
    try await analyzer.finalizeAndFinishThroughEndOfInput()
} catch {
    FileHandle.standardError.write(Data("live-captions: \(error)\n".utf8))
    exit(1)
}
