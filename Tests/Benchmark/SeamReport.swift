import Core
import FileMicrophone
import PocketSphinxRecognizer

/// Words lost and doubled where one session went over into the next.
///
/// The audio around each seam is read once more as one utterance. A word is lost where that reading has one within half
/// a second of the seam and the transcript has none at the time of its middle; it is doubled where the transcript has
/// the same word on both sides and that reading has it once.
struct SeamReport {
    private static let around = 4.0
    private static let near = 0.5

    private(set) var seams = 0
    private(set) var lost = 0
    private(set) var doubled = 0

    var text: String {
        let share = 100 / Double(max(1, seams))
        return "\(seams) seams; for each 100: \(shown(Double(lost) * share, 1)) words lost, "
            + "\(shown(Double(doubled) * share, 1)) doubled"
    }

    init(transcript: TranscriptFile, wave: String) throws {
        let samples = try Self.samples(wave)
        let recognizer = try PocketSphinxRecognizer(model: PocketSphinxModel(folder: PocketSphinxModel.debian))
        for (left, right) in zip(transcript.segments, transcript.segments.dropFirst())
        where left.endedBy == .rotation {
            seams += 1
            let cut = left.end
            let from = max(0, Int((cut - Self.around) * Double(SamplePosition.rate)))
            let to = min(samples.count, Int((cut + Self.around) * Double(SamplePosition.rate)))
            let offset = Double(from) / Double(SamplePosition.rate)
            let whole = try samples[from..<to].withUnsafeBufferPointer {
                try recognizer.recognize($0, channel: nil, alternatives: 0) { _ throws(DeviceError) in }
            }.words
            let stitched = left.words + right.words
            lost += whole.count { word in
                let middle = offset + word.range.middle.seconds
                return abs(middle - cut) <= Self.near && !stitched.contains { $0.start <= middle && middle < $0.end }
                    && !Self.isHeard(word.text, near: middle, in: stitched)
            }
            if let last = left.words.last?.text, last == right.words.first?.text,
                !zip(whole, whole.dropFirst()).contains(where: { $0.text == last && $1.text == last })
            {
                doubled += 1
            }
        }
    }

    /// The same word, timed a little otherwise.
    private static func isHeard(_ word: String, near middle: Double, in words: [TranscriptFile.Word]) -> Bool {
        words.contains { $0.text == word && abs(($0.start + $0.end) / 2 - middle) < 0.3 }
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
