import Core
import FileMicrophone
import Glibc
import PocketSphinxRecognizer
import TestKit
import Testing

/// What is read of Debian's own test recordings is not to become worse: the package pocketsphinx-testdata.
@Suite("Accuracy") struct AccuracyTests {
    private static let folder = "/usr/share/pocketsphinx/test/data/librivox"

    /// Word errors in per cent when they were last recorded. Where one falls for good, lower its number here. That of `live`
    /// was 29.6, two words of 71 fewer, before its search began with the mean of 4 s in place of 6; of the 1,500 words of the
    /// corpus that cost three.
    @Test(
        "Word errors on people reading a novel stay within two points of what was recorded",
        arguments: [("live", 32.4), ("final", 29.6), ("quick", 39.5)])
    func librivox(name: String, recorded: Double) throws {
        let profile = try #require(DecoderProfile.all.first { $0.name == name })
        let recognizer = try PocketSphinxRecognizer(
            model: PocketSphinxModel(folder: PocketSphinxModel.debian), profile: profile)
        var rate = WordErrorRate()
        for (file, text) in try Self.references() {
            let samples = try Self.samples("\(Self.folder)/\(file).wav")
            let words = try samples.withUnsafeBufferPointer {
                try recognizer.recognize($0, channel: nil, alternatives: 0) { _ throws(DeviceError) in }
            }.words
            rate = rate + WordErrorRate(reference: text, hypothesis: words.map(\.text).joined(separator: " "))
        }
        print("\(name): \(rate.errors) of \(rate.words) words, \(rate.percent) %")
        #expect(rate.words > 60)
        #expect(rate.percent <= recorded + 2, "\(name): \(rate.percent) %, recorded \(recorded) %")
    }

    /// Lines such as `he might even ... (sense_and_sensibility_01_austen_64kb-0930)`.
    private static func references() throws -> [(file: String, text: String)] {
        try text("\(folder)/transcription").split(separator: "\n").compactMap { line in
            guard let open = line.lastIndex(of: "("), line.hasSuffix(")") else { return nil }
            let text = line[..<open].split(separator: " ").filter { !$0.hasPrefix("<") }.joined(separator: " ")
            return (String(line[line.index(after: open)...].dropLast()), text)
        }
    }

    private static func text(_ path: String) throws -> String {
        guard let file = fopen(path, "r") else {
            throw DeviceError(.missing, "fopen", "\(path): not there; install the package pocketsphinx-testdata")
        }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes[..<count], as: UTF8.self)
    }

    static func samples(_ path: String) throws -> [Int16] {
        let reader = try AudioFileReader(path: path)
        var samples: [Int16] = []
        var buffer = [Int16](repeating: 0, count: SamplePosition.rate)
        while case let count = try buffer.withUnsafeMutableBufferPointer({ try reader.read(into: $0) }), count > 0 {
            samples += buffer[..<count]
        }
        return samples
    }
}
