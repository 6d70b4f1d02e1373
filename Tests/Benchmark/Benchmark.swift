import Core
import Glibc
import Recognition
import System

/// Measures the figures in README.md: `swift run -c release benchmark [WHAT]`. Prints Markdown.
///
/// Measurements of speech use the corpus beside the repository; without it, they are skipped and a line says so.
@main struct Benchmark {
    private static let usage = """
        usage: benchmark [capture|appliance|export|sealing|search|start|copies|hour|seams|memory|recognition|accuracy
                         |speakers|latency|robustness|music|unpaused|silence|vocabulary|names|learning|punctuation
                         |alignment|diarization|parse|calibrate|folds|speech]
                         [--every N] [--only NAMES] [--engine NAME] [--model DIR] [--pictures FOLDER]
                         [--program FILE] [--to FOLDER] [--speakers DIR] [--runs N]
                         [--constant NAMES] [--cache FOLDER] [--jobs N]
          capture     an hour to the card, compared with arecord
          appliance   the delay from a press to lamp and microphone; the cost while idle and while recording
          export      the field hour to the folder that --to names, read back, compared with cp and sync
          sealing     sealed copies of an hour to the folder that --to names, compared with age alone on the same tar;
                      then on the recorder: sealing the same hour, the time from a stop until a recording is sealed,
                      opening a hundred, and how soon a recording starts meanwhile;
                      --only stream: only the comparison with age, in ten rounds
          search      an archive of a million segments in 10,000 recordings, in the folder that --to names: searches, the
                      list, and the time from a start to its first sample on the disk while others search and verify;
                      --segments N for another size
          start       the same archive with folders, words and alternatives, about 2 GB, not in the page cache: the time
                      until the appliance is ready, and from a start to its first sample while others search, verify
                      and copy
          copies      5,000 recordings to the folder that --to names, and again with nothing new
          hour        the field hour with two workers, compared with pocketsphinx_continuous; word errors at seams
          seams       the same without pocketsphinx_continuous; then every profile on speech without its pauses
          memory      the memory of one worker and of two
          accuracy    word errors, CPU, memory and confidence of every profile of PocketSphinx and Moonshine and of
                      whisper, compared with pocketsphinx_continuous and Moonshine's own package, moonshine-voice from
                      PyPI; writes accuracy.json, and accuracy.svg into the folder that --pictures names
          recognition accuracy, with two workers, the seams and the latency of every profile
          speakers    accuracy with each speaker's files as one recording, as a second pass finds them
          latency     the delay from the end of speech to its committed and its provisional text, in real time; and from
                      the end of a group of utterances to its final text
          robustness  quiet, noisy, clipped and filtered audio; other sample rates
          music       the text that is recognized in music
          unpaused    30 minutes without a pause
          silence     the text recognized in audio without speech, speech that is missed, other languages
          vocabulary  a vocabulary's words, spoken by espeak-ng, and speech without them
          names       names of the open set, in a list with a hundred others
          learning    half of the speech is corrected by the reference; the rest is transcribed with and without the learned
                      words
          punctuation whether full stops match the ends of a reader's sentences
          alignment   the alignment of known words: cost, failures, and errors of the start times
          diarization who spoke, in conversations made from single speakers. --only fit,judge,settings,hops,edges,words,
                      long,conversations selects parts; the default is fit,judge. settings, hops and edges vary the
                      settings, the distance of windows and the extension of speech, on `fit`; words: the attribution
                      of words to speakers; long: CPU and memory for 10, 60 and 180 minutes; conversations: writes
                      the conversations themselves. Add clean, far, noise, noisy, room, telephone or hard to measure
                      only these conditions. The folder that --to names gets what pyannote.metrics needs to compute
                      the same rates
          parse       reading corrections: seconds and memory for 1 and 10 MB of each format, and for hostile texts
          calibrate   the constants of DecoderProfile.swift
          folds       each constant of Moonshine, chosen on four fifths of the speakers and judged on the last fifth,
                      all five ways: mean, spread, and the gain over the simplest value. Says how long it takes, and
                      continues where it was interrupted as long as program and model are the same
          speech      the library Speech: text, CPU and memory against `transcribe --jobs 1`, an hour in buffers of 20 ms,
                      and the delay of its first volatile text; --every N also shortens the hour
          --every N   only every Nth file of the open set
          --only live,final,fast,moonshine-live,moonshine-fast,moonshine-small,whisper,pocketsphinx_continuous,
                      moonshine-voice
                      only these contenders; accuracy, recognition and hour show the figures of the last run for the rest
          --engine pocketsphinx|moonshine
                      the engine whose constants calibrate fits
          --model DIR Moonshine's model, as installed by deploy/model moonshine-tiny-en --folder DIR; default
                      FIELDSCRIBE_TEST_MODEL; without a model, Moonshine is skipped. Whisper's is the file that
                      FIELDSCRIBE_TEST_WHISPER names; it needs whisper-cli in PATH
          --program FILE
                      the executable to measure, such as a package's; default the one built here
          --speakers DIR
                      the speaker model, as installed by deploy/model speakers --folder DIR; default
                      FIELDSCRIBE_TEST_SPEAKERS
          --runs N    conversations per cell of a table, default 10
          --constant NAMES
                      only these constants of folds, such as padding,beam
          --cache FOLDER
                      what folds has read; default the folder of the results
          --jobs N    how many files folds reads at once; default one for each processor
          --to FOLDER
                      the folder for the copies and archives of the measurements, on a stick or a slow disk
        Default: capture and hour.
        """

    private enum Measurement: String {
        case capture, appliance, export, sealing, search, start, copies, hour, seams, memory, recognition, accuracy
        case speakers, latency, robustness, music, unpaused, silence, vocabulary, names, learning, punctuation
        case alignment, diarization, parse, calibrate, folds, speech
    }

    static func main() {
        do { try measure() } catch {
            print("benchmark: \(error)")
            fflush(nil)
            exit(1)
        }
    }

    private static func measure() throws {
        var words = Array(CommandLine.arguments.dropFirst())
        let step = value(of: "--every", in: &words).flatMap { Int($0) } ?? 1
        let pictures = value(of: "--pictures", in: &words)
        let program = value(of: "--program", in: &words)
        let target = value(of: "--to", in: &words)
        let segments = value(of: "--segments", in: &words).flatMap { Int($0) } ?? 1_000_000
        let (engine, model) = (value(of: "--engine", in: &words), value(of: "--model", in: &words))
        let voices = value(of: "--speakers", in: &words) ?? environmentVariable("FIELDSCRIBE_TEST_SPEAKERS")
        let runs = value(of: "--runs", in: &words).flatMap { Int($0) } ?? 10
        let constants = value(of: "--constant", in: &words)?.split(separator: ",").map(String.init)
        let cache = value(of: "--cache", in: &words)
        let jobs = value(of: "--jobs", in: &words).flatMap { Int($0) } ?? sysconf(Int32(_SC_NPROCESSORS_ONLN))
        let only = value(of: "--only", in: &words)?.split(separator: ",").map(String.init)
        if words.isEmpty { words = ["capture", "hour"] }
        if words.first == "parse-case" { return ParseBenchmark.runCase(words.dropFirst()) }
        if words.first == "speech-case" { return SpeechBenchmark.runCase(words.dropFirst()) }
        let measurements = words.map { (word: String) -> Measurement in
            if let measurement = Measurement(rawValue: word) { return measurement }
            print(usage)
            exit(word == "--help" ? 0 : 2)
        }
        let workshop = try Workshop(program: program, model: model)
        let place = target ?? workshop.folder
        func chosen(_ contenders: [Contender] = Contender.all) -> [Contender] {
            Contender.chosen(contenders, among: only, in: workshop)
        }
        func read(_ measurement: Measurement, on open: Corpus) throws {
            switch measurement {
            case .export:
                try ExportBenchmark(workshop: workshop, target: place)
                    .run(HourBenchmark(workshop: workshop).makeHour().wave)
            case .hour: try HourBenchmark(workshop: workshop).run(chosen(), withPeer: true)
            case .seams:
                let hour = chosen()
                try HourBenchmark(workshop: workshop).run(hour.isEmpty ? [.live] : hour, withPeer: false)
                for contender in chosen() where !contender.isPeer && !contender.isSmallBoard {
                    let unpaused = try HourBenchmark(workshop: workshop).unpaused(open, by: contender, orders: 3)
                    print("the open set without its pauses, in three orders, \(contender.name): \(unpaused.text)")
                }
            case .memory: try MemoryBenchmark(workshop: workshop, corpus: open).run(chosen())
            case .robustness:
                try RobustnessBenchmark(workshop: workshop, corpus: open, chosen(Self.readers)).run()
            case .music: try RobustnessBenchmark(workshop: workshop, corpus: open, chosen()).music()
            case .unpaused:
                try HourBenchmark(workshop: workshop)
                    .longUnpaused(open, chosen(Self.readers + Contender.peers), minutes: 30 / Double(max(1, step)))
            case .silence:
                try SilenceBenchmark(workshop: workshop, corpus: open, step: max(1, step)).run(chosen(Self.readers))
            case .names: try NamesBenchmark(workshop: workshop, corpus: open).run(chosen(Self.readers))
            case .learning:
                try LearningBenchmark(workshop: workshop, corpus: open)
                    .run(only == nil ? chosen([Contender.moonshine[0]]) : chosen(Self.readers))
            case .vocabulary: try VocabularyBenchmark(workshop: workshop, corpus: open).run()
            case .punctuation: try PunctuationBenchmark(workshop: workshop, corpus: open).run()
            case .alignment: try AlignmentBenchmark(workshop: workshop, corpus: open).run()
            case .diarization:
                guard let voices else {
                    return print("skipped: diarization; name the speaker model with --speakers DIR")
                }
                let beside = [model, workshop.model].compactMap(\.self)
                let speakers = SpeakerModel(path: voices)
                let sounds = Conversation.Condition.allCases.filter { only?.contains($0.rawValue) ?? false }
                let parts = only?.filter { Conversation.Condition(rawValue: $0) == nil }
                try DiarizationBenchmark(
                    workshop: workshop, corpus: open, model: speakers,
                    network: VoiceNetwork(speakers, besides: beside), others: beside, runs: max(1, runs),
                    sounds: sounds.isEmpty ? Conversation.Condition.usual : sounds, output: target
                ).run(only: parts.flatMap { $0.isEmpty ? nil : $0 })
            case .calibrate:
                if engine == "moonshine" {
                    try MoonshineCalibration(workshop: workshop, corpus: open).run(chosen(Contender.moonshine))
                } else {
                    try CalibrationBenchmark(corpus: open).run(only: only)
                }
            case .folds:
                try FoldsBenchmark.run(
                    workshop: workshop, corpus: open, only: constants, cache: cache ?? "\(workshop.folder)/folds",
                    jobs: max(1, jobs))
            case .speech:
                try SpeechBenchmark(workshop: workshop, corpus: open, minutes: 60 / Double(max(1, step)))
                    .run(chosen(Self.readers))
            case .latency:
                if only == nil, let reader = try open.reader(in: workshop.folder) {
                    try LatencyBenchmark(workshop: workshop).run(reader.path)
                }
                try ProvisionalBenchmark(workshop: workshop, corpus: open)
                    .run(chosen(Self.readers + [Contender.small]))
            case .speakers:
                let speakers = try open.joined(in: workshop.folder)
                try AccuracyBenchmark(workshop: workshop, corpus: speakers, title: "speakers")
                    .run(only: only, pictures: nil)
            case .accuracy, .recognition:
                try AccuracyBenchmark(workshop: workshop, corpus: open, isComplete: measurement == .recognition)
                    .run(only: only, pictures: pictures)
            case .capture, .appliance, .parse, .search, .start, .sealing, .copies:
                preconditionFailure("\(measurement) reads no corpus")
            }
        }
        for measurement in measurements {
            defer { fflush(nil) }
            switch measurement {
            case .capture: try CaptureBenchmark(workshop: workshop).run()
            case .appliance: try ApplianceBenchmark(workshop: workshop).run(Self.speech)
            case .parse: try ParseBenchmark().run()
            case .search, .start:
                try SearchBenchmark(
                    workshop: workshop, target: place, segments: max(1, segments),
                    recordings: max(1, segments / 100), isWhole: measurement == .start
                ).run()
            case .sealing:
                let onlyStream = only == ["stream"]
                try SealingBenchmark(workshop: workshop, target: place).run(onlyStream: onlyStream)
                if onlyStream { continue }
                try SealedRecorderBenchmark(workshop: workshop, target: place, speech: Self.speech).run()
            case .copies: try CopiesBenchmark(workshop: workshop, target: place, count: 5_000).run()
            default:
                if let open = try Corpus.open()?.every(max(1, step)) {
                    try read(measurement, on: open)
                } else {
                    print("skipped: \(measurement); \(Corpus.folder) is not there")
                }
            }
        }
    }

    /// The profiles to compare by default.
    private static let readers = [Contender.live] + Contender.moonshine

    /// Real speech from the Debian package pocketsphinx-testdata. The microphone is silent after it.
    private static let speech =
        "/usr/share/pocketsphinx/test/data/librivox/sense_and_sensibility_01_austen_64kb-0930.wav"

    private static func value(of option: String, in words: inout [String]) -> String? {
        guard let index = words.firstIndex(of: option), index + 1 < words.count else { return nil }
        defer { words.removeSubrange(index...(index + 1)) }
        return words[index + 1]
    }
}

extension DecoderProfile {
    /// Returns the profiles with these names; all if `names` is nil.
    static func all(among names: [String]?) -> [DecoderProfile] {
        all.filter { names?.contains($0.name) ?? true }
    }
}
