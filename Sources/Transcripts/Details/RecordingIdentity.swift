import Core
import System

/// Identifies a file's recording in plain text, which every format can contain and every editor keeps: `recording 7,
/// pass 2, sound sha256:` and 64 hexadecimal digits.
package struct RecordingIdentity: Hashable, Sendable, Codable {
    /// The recording's number on its recorder.
    package var recording: Int
    /// The pass, counted from 1 within the recording; nil if unknown.
    package var pass: Int?
    /// The SHA-256 of the samples (mono, 16-bit little-endian, 16 kHz) in lower-case hexadecimal.
    package var sound: String

    package init(recording: Int, pass: Int? = nil, sound: String) {
        self.pass = pass
        self.recording = recording
        self.sound = sound
    }

    package var text: String { "recording \(recording)\(pass.map { ", pass \($0)" } ?? ""), sound sha256:\(sound)" }

    /// Finds the first identity in a text. Returns nil if there is none.
    package init?(in text: String) {
        let (passPrefix, soundPrefix) = (", pass ".utf8, ", sound sha256:".utf8)
        var unsearched = Array(text.utf8)[...]
        while let found = unsearched.firstOccurrence(of: "recording ") {
            unsearched = unsearched[found.upperBound...]
            var rest = unsearched
            let number = Self.number(&rest)
            var pass: Int?
            if rest.starts(with: passPrefix) {
                rest = rest.dropFirst(passPrefix.count)
                pass = Self.number(&rest)
            }
            guard let number, number > 0, rest.starts(with: soundPrefix) else { continue }
            let sound = rest.dropFirst(soundPrefix.count).prefix(64)
            let isHexadecimal = sound.allSatisfy { $0.isASCIIDigit || (0x61...0x66).contains($0) }
            guard sound.count == 64, isHexadecimal else { continue }
            self.init(recording: number, pass: pass, sound: String(decoding: sound, as: UTF8.self))
            return
        }
        return nil
    }

    /// Removes and returns the number at the start, at most ten digits; nil if there are no digits.
    private static func number(_ rest: inout ArraySlice<UInt8>) -> Int? {
        let digits = rest.prefix(10).prefix(while: \.isASCIIDigit)
        rest = rest.dropFirst(digits.count)
        return Int(String(decoding: digits, as: UTF8.self))
    }
}

extension RecordingIdentity {
    /// Finds the identity in the transcripts beside a file. Returns nil if none contains one.
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
