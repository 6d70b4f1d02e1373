import Glibc

@testable import Recognition
@testable import Settings

/// Fuzzes files on a stick: a configuration, a vocabulary or a grammar. With any content, parsing must finish, and may
/// change only the settings that a stick is allowed to change.
@_cdecl("LLVMFuzzerTestOneInput") public func fuzz(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: data, count: size))
    var original = Configuration()
    original.export.settings = true
    if let changed = try? ConfigurationParser.overlay(
        bytes, file: "fieldscribe.conf", over: original, refusal: { $0.stickRefusal($1) })
    {
        var restored = changed
        restored.capture = original.capture
        restored.speech = original.speech
        restored.panel.style = original.panel.style
        restored.panel.holdMilliseconds = original.panel.holdMilliseconds
        restored.panel.shutdown = original.panel.shutdown
        restored.export.formats = original.export.formats
        restored.export.audio = original.export.audio
        restored.export.pauseSeconds = original.export.pauseSeconds
        restored.export.accept = original.export.accept
        restored.recognizer.hint = original.recognizer.hint
        restored.recognizer.punctuation = original.recognizer.punctuation
        restored.recognizer.secondPass = original.recognizer.secondPass
        restored.recognizer.workers = original.recognizer.workers
        restored.recognizer.model = original.recognizer.model
        restored.recognizer.engine = original.recognizer.engine
        precondition(restored == original, "changed a setting that a stick must not change")
        precondition(changed.recognizer.model == original.recognizer.model || !changed.recognizer.model.contains("/"))
        precondition(["auto", "moonshine", "pocketsphinx"].contains(changed.recognizer.engine))
        precondition(!changed.capture.device.contains { "|'\"{}/".contains($0) })
    }
    let text = String(decoding: bytes, as: UTF8.self)
    let vocabulary = VocabularyFile(text)
    precondition(vocabulary.phrases.count <= VocabularyFile.maxPhrases)
    let grammar = GrammarFile(text)
    precondition(grammar.text(naming: [:]) == text)
    _ = grammar.sizeProblem
    _ = grammar.undefined
    return 0
}
