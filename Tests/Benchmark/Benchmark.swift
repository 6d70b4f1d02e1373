import Core
import Glibc
import PocketSphinxRecognizer

/// Measures what README tells: `swift run -c release benchmark [WHAT]`. Prints Markdown.
///
/// What is measured with speech uses the corpus beside the repository, and is skipped, and says so, where that is not.
@main struct Benchmark {
    private static let usage = """
        usage: benchmark [capture|appliance|export|hour|seams|memory|recognition|accuracy|speakers|latency|robustness
                         |music|vocabulary|punctuation|alignment|calibrate]
                         [--every N] [--only NAMES] [--pictures FOLDER] [--program FILE] [--to FOLDER]
          capture     an hour to the card, against arecord
          appliance   how soon lamp and microphone answer a press; what it takes while it waits and while it records
          export      the field hour to the folder that --to names, read back, against cp and sync
          hour        the field hour with two workers, against pocketsphinx_continuous; with the seams
          seams       the same without the peer; and of speech whose pauses were taken out, of every profile
          memory      what a second worker costs
          accuracy    word errors, CPU, memory and confidence of every profile, against pocketsphinx_continuous;
                      writes accuracy.json, and accuracy.svg into the folder that --pictures names
          recognition accuracy, with the seams and the latency of every profile
          speakers    accuracy with each speaker's files as one recording, as a second pass finds them
          latency     from the end of speech to its committed text, in real time
          robustness  quiet, noisy, clipped, filtered sound, other rates
          music       what is written down of melodies
          vocabulary  a vocabulary's words, said by espeak-ng, and speech without them
          punctuation where a reader's sentences end
          alignment   where words were said that are known, against where they were put
          calibrate   the constants of Calibration.swift
          --every N   only each Nth file of the open set
          --only live,final,quick,pocketsphinx_continuous
                      accuracy and recognition measure these, and take the others from its last run; seams and
                      calibrate measure these alone
          --program FILE
                      measures that executable, such as a package's, in the place of the one built here
          --to FOLDER
                      where export copies to: a folder on a stick, or on a slow disk
        Without a word: capture and hour.
        """

    static func main() throws {
        var words = Array(CommandLine.arguments.dropFirst())
        let step = value(of: "--every", in: &words).flatMap { Int($0) } ?? 1
        let pictures = value(of: "--pictures", in: &words)
        let program = value(of: "--program", in: &words)
        let target = value(of: "--to", in: &words)
        let only = value(of: "--only", in: &words)?.split(separator: ",").map(String.init)
        if words.isEmpty { words = ["capture", "hour"] }
        for word in words {
            guard
                [
                    "capture", "appliance", "export", "hour", "seams", "memory", "recognition", "accuracy", "speakers",
                    "latency", "robustness", "music", "vocabulary", "punctuation", "alignment", "calibrate",
                ]
                .contains(word)
            else {
                print(usage)
                exit(word == "--help" ? 0 : 2)
            }
        }
        let workshop = try Workshop(program: program)
        for word in words {
            defer { fflush(nil) }
            if word == "capture" {
                try CaptureBenchmark(workshop: workshop).run()
                continue
            }
            if word == "appliance" {
                try ApplianceBenchmark(workshop: workshop).run(Self.speech)
                continue
            }
            guard let open = try Corpus.open()?.every(max(1, step)) else {
                print("skipped: \(word); \(Corpus.folder) is not there")
                continue
            }
            switch word {
            case "export":
                try ExportBenchmark(workshop: workshop, target: target ?? workshop.folder)
                    .run(HourBenchmark(workshop: workshop).makeHour().wave)
            case "hour": try HourBenchmark(workshop: workshop).run(withPeer: true)
            case "seams":
                try HourBenchmark(workshop: workshop).run(withPeer: false)
                for profile in DecoderProfile.all(among: only) {
                    let unpaused = try HourBenchmark(workshop: workshop).unpaused(open, profile: profile, orders: 3)
                    print("the open set without its pauses, in three orders, \(profile.name): \(unpaused.text)")
                }
            case "memory": try HourBenchmark(workshop: workshop).memory(open)
            case "robustness": try RobustnessBenchmark(workshop: workshop, corpus: open).run()
            case "music": try RobustnessBenchmark(workshop: workshop, corpus: open).music()
            case "vocabulary": try VocabularyBenchmark(workshop: workshop, corpus: open).run()
            case "punctuation": try PunctuationBenchmark(workshop: workshop, corpus: open).run()
            case "alignment": try AlignmentBenchmark(workshop: workshop, corpus: open).run()
            case "calibrate": try CalibrationBenchmark(corpus: open).run(only: only)
            case "latency":
                if let reader = try open.reader(in: workshop.folder) {
                    try LatencyBenchmark(workshop: workshop).run(reader.path)
                }
            case "speakers":
                let speakers = try open.joined(in: workshop.folder)
                try AccuracyBenchmark(workshop: workshop, corpus: speakers, title: "speakers")
                    .run(only: only, pictures: nil)
            default:
                try AccuracyBenchmark(workshop: workshop, corpus: open, isComplete: word == "recognition")
                    .run(only: only, pictures: pictures)
            }
        }
    }

    /// Real speech of the Debian package pocketsphinx-testdata; behind its end the microphone is silent.
    private static let speech =
        "/usr/share/pocketsphinx/test/data/librivox/sense_and_sensibility_01_austen_64kb-0930.wav"

    private static func value(of option: String, in words: inout [String]) -> String? {
        guard let index = words.firstIndex(of: option), index + 1 < words.count else { return nil }
        defer { words.removeSubrange(index...(index + 1)) }
        return words[index + 1]
    }
}

extension DecoderProfile {
    /// Those that are named; all where none is.
    static func all(among names: [String]?) -> [DecoderProfile] {
        all.filter { names?.contains($0.name) ?? true }
    }
}
