import Foundation
import Speech

// transcribe-file FILE: prints the text of an audio file, utterance by utterance.
let transcriber = SpeechTranscriber(locale: Locale(identifier: "en-US"), preset: .transcription)
let analyzer = SpeechAnalyzer(modules: [transcriber])

async let printed: Void = {
    for try await result in transcriber.results { print(String(result.text.characters)) }
}()
do {
    try await analyzer.analyzeSequence(from: URL(filePath: CommandLine.arguments.dropFirst().first ?? ""))
    try await analyzer.finalizeAndFinishThroughEndOfInput()
    try await printed
} catch {
    FileHandle.standardError.write(Data("transcribe-file: \(error)\n".utf8))
    exit(1)
}
