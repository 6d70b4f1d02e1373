import FoundationEssentials
import Glibc
import Testing
import TestKit

/// Files that contain nothing but a tone at full scale.
@Suite("Files that contain only a tone") struct ToneFileTests {
    private static func wave(hertz: Double, seconds: Int) -> Data {
        let rate: Int32 = 16_000
        var bytes = Data("RIFF".utf8)
        func append<Value: FixedWidthInteger>(_ value: Value) {
            withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
        }
        let size = rate * Int32(seconds) * 2
        append(size + 36)
        bytes.append(Data("WAVEfmt ".utf8))
        append(Int32(16))
        append(Int16(1))
        append(Int16(1))
        append(rate)
        append(rate * 2)
        append(Int16(2))
        append(Int16(16))
        bytes.append(Data("data".utf8))
        append(size)
        for index in 0..<Int(rate) * seconds {
            let phase: Double = 2 * Double.pi * hertz * Double(index) / Double(rate)
            append(Int16(32_767 * sin(phase)))
        }
        return bytes
    }

    @Test("PocketSphinx recognizes no words in a tone", arguments: [300.0, 2_000, 3_000])
    func tone(hertz: Double) throws {
        let folder = TemporaryFolder()
        try Self.wave(hertz: hertz, seconds: 10).write(to: URL(filePath: folder.file("tone.wav")))
        let outcome = try Fieldscribe.run(
            "transcribe", "--engine", "pocketsphinx", folder.file("tone.wav"),
            in: folder)
        #expect(outcome.status == 0)
        #expect(outcome.errors.isEmpty)
        #expect(outcome.output.split(whereSeparator: \.isWhitespace).isEmpty, "\(outcome.output)")
    }
}
