import Glibc

@testable import Recognition
@testable import Settings

/// A stick's files: a configuration, a vocabulary or a grammar. With any content, parsing ends, and changes only what a
/// stick may change.
@_cdecl("LLVMFuzzerTestOneInput") public func fuzz(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: data, count: size))
    var own = Configuration()
    own.export.settings = true
    if let other = try? ConfigurationParser.overlay(
        bytes, file: "fieldscribe.conf", over: own, refusal: { $0.refusalOfStick($1) })
    {
        var same = other
        same.capture = own.capture
        same.speech = own.speech
        same.panel.style = own.panel.style
        same.panel.holdMilliseconds = own.panel.holdMilliseconds
        same.panel.shutdown = own.panel.shutdown
        same.export.formats = own.export.formats
        same.export.audio = own.export.audio
        same.export.pauseSeconds = own.export.pauseSeconds
        same.export.accept = own.export.accept
        same.recognizer.hint = own.recognizer.hint
        same.recognizer.punctuation = own.recognizer.punctuation
        same.recognizer.secondPass = own.recognizer.secondPass
        same.recognizer.workers = own.recognizer.workers
        same.recognizer.model = own.recognizer.model
        same.recognizer.engine = own.recognizer.engine
        precondition(same == own, "changed what a stick may not change")
        precondition(other.recognizer.model == own.recognizer.model || !other.recognizer.model.contains("/"))
        precondition(["auto", "moonshine", "pocketsphinx"].contains(other.recognizer.engine))
        precondition(!other.capture.device.contains { "|'\"{}/".contains($0) })
    }
    let text = String(decoding: bytes, as: UTF8.self)
    let vocabulary = VocabularyFile(text)
    precondition(vocabulary.phrases.count <= VocabularyFile.maxPhrases)
    let grammar = GrammarFile(text)
    precondition(grammar.text(naming: [:]) == text)
    _ = grammar.excess
    _ = grammar.undefined
    return 0
}
