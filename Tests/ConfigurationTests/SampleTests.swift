import FoundationEssentials
import Testing

@testable import Settings

/// Compares the installed sample file with the table of keys.
@Suite("The sample file") struct SampleTests {
    private func sample() throws -> String {
        let path = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "deploy/fieldscribe.conf")
        return String(decoding: try Data(contentsOf: path), as: UTF8.self)
    }

    @Test("has every key in its section and in order, commented out, with its default value")
    func defaults() throws {
        var section = ""
        var sampleKeys: [String] = []
        for line in try sample().split(separator: "\n") {
            if line.hasPrefix("[") {
                section = String(line.dropFirst().dropLast())
            } else if line.hasPrefix("#"), !line.hasPrefix("# "), line != "#" {
                sampleKeys.append("[\(section)] \(line.dropFirst())")
            } else {
                #expect(line.hasPrefix("#"), "not commented out: \(line)")
            }
        }
        let expected = ConfigurationKey.all.map { key in
            let value = key.value(in: Configuration())
            return "[\(key.section)] \(key.name) =" + (value.isEmpty ? "" : " \(value)")
        }
        #expect(sampleKeys == expected)
    }

    @Test("yields the defaults, even with every key uncommented")
    func roundTrip() throws {
        let text = try sample()
        let uncommented = text.split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.hasPrefix("#") && !$0.hasPrefix("# ") ? $0.dropFirst() : $0 }.joined(separator: "\n")
        for text in [text, uncommented] {
            var configuration = try parse(text).get()
            #expect(configuration.file != nil)
            configuration.file = nil
            #expect(configuration == Configuration())
        }
    }

    @Test("has no line longer than 120 bytes")
    func lineLength() throws {
        #expect(try sample().split(separator: "\n").allSatisfy { $0.utf8.count <= 120 })
    }
}
