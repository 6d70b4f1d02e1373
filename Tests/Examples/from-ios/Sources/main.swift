import Foundation
import Speech

// from-ios [DEVICE]: recognizes speech from a microphone until Return is pressed.
guard SFSpeechRecognizer.authorizationStatus() == .authorized,
    let spokenWord = SpokenWord(device: CommandLine.arguments.dropFirst().first ?? "default")
else {
    FileHandle.standardError.write(Data("from-ios: there is no model for English; install pocketsphinx-en-us\n".utf8))
    exit(1)
}
spokenWord.didEnd = { error in
    if let error { FileHandle.standardError.write(Data("from-ios: \(error)\n".utf8)) }
    exit(error == nil ? 0 : 1)
}
spokenWord.recordButtonTapped()
Thread.detachNewThread {
    _ = readLine()
    Task { @MainActor in spokenWord.recordButtonTapped() }
}
RunLoop.main.run()
