import Core
import System

/// Identifies the recording of a file, in words that every format can contain and every editor keeps: `recording 7,
/// pass 2, sound sha256:` and 64 hexadecimal digits.
package struct RecordingIdentity: Hashable, Sendable, Codable {
    /// The recording's number on its recorder.
    package var recording: Int
    /// The pass in the file, counted from 1 within the recording; nil if unknown.
    package var pass: Int?
    /// The SHA-256 of its samples (mono, 16-bit little-endian, 16 kHz) in lower-case hexadecimal.
    package var sound: String

    package init(recording: Int, pass: Int? = nil, sound: String) {
        self.pass = pass
        self.recording = recording
        self.sound = sound
    }

    private static let middle = ", sound sha256:"
    private static let ofPass = Array(", pass ".utf8)

    /// The form in files.
    package var text: String { "recording \(recording)\(pass.map { ", pass \($0)" } ?? "")\(Self.middle)\(sound)" }

    /// Finds the first identity in a text; nil if there is none.
    package init?(in text: String) {
        let bytes = Array(text.utf8)
        let (before, middle) = (Array("recording ".utf8), Array(Self.middle.utf8))
        var index = 0
        while index + before.count < bytes.count {
            guard bytes[index] == before[0], bytes[index...].starts(with: before) else {
                index += 1
                continue
            }
            index += before.count
            let digits = bytes[index...].prefix(10).prefix { (0x30...0x39).contains($0) }
            var rest = bytes[(index + digits.count)...]
            var pass: Int?
            if rest.starts(with: Self.ofPass) {
                let digits = rest.dropFirst(Self.ofPass.count).prefix(10).prefix { (0x30...0x39).contains($0) }
                pass = Int(String(decoding: digits, as: UTF8.self))
                rest = rest.dropFirst(Self.ofPass.count + digits.count)
            }
            guard let number = Int(String(decoding: digits, as: UTF8.self)), number > 0, rest.starts(with: middle)
            else {
                continue
            }
            let sound = rest.dropFirst(middle.count).prefix(64)
            let isHexadecimal = sound.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
            guard sound.count == 64, isHexadecimal else { continue }
            self.init(recording: number, pass: pass, sound: String(decoding: sound, as: UTF8.self))
            return
        }
        return nil
    }
}

extension RecordingIdentity {
    /// What the other files in a copy's folder say about its recording.
    package init?(beside path: String) {
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "./"
        for format in TranscriptFormat.allCases where format.holdsIdentity {
            guard let bytes = try? beginning(ofFile: folder + format.fileName, count: 16_384) else { continue }
            if let identity = RecordingIdentity(in: String(decoding: bytes, as: UTF8.self)) {
                self = identity
                return
            }
        }
        return nil
    }
}
