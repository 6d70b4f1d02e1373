import Core
import Glibc
import Recognition
import System

/// Measures the figures in README.md, and prints Markdown.
///
/// Speech measurements use the corpus beside the repository. If it is missing, they are skipped with a message.
@main struct Benchmark {
    private static let usage = """
        usage: benchmark [capture|appliance|export|sealing|search|start|copies|hour|seams|memory|recognition|accuracy
                         |speakers|latency|robustness|music|unpaused|silence|vocabulary|names|learning|punctuation
                         |alignment|diarization|parse|calibrate|folds|speech]
                         [--every N] [--only NAMES] [--engine NAME] [--model DIR] [--pictures FOLDER]
                         [--program FILE] [--to FOLDER] [--speakers DIR] [--runs N]
                         [--constant NAMES] [--cache FOLDER] [--jobs N]
          capture     recording an hour to the card, compared with arecord
          appliance   the delay from a button press to the lamp and to the first sample; CPU use while idle and while
                      recording
          export      copying the field hour to the folder given with --to, with read-back; compared with cp and sync
          sealing     sealed copies of an hour to the folder given with --to, compared with age alone on the same tar;
                      then on the recorder: sealing an hour, the time from a stop until a recording is sealed,
                      opening a hundred recordings, and the delay of a start meanwhile;
                      --only stream: the comparison with age alone, in ten rounds
          search      an archive of a million segments in 10,000 recordings, in the folder given with --to: searches,
                      the list, and the time from a start to the first sample while other clients search and
                      verify; --segments N sets another size
          start       the same archive with folders, words and alternatives, about 2 GB, not in the page cache: the time
                      until the appliance is ready, and from a start to the first sample while other clients search,
                      verify and copy
          copies      copying 5,000 recordings to the folder given with --to, and copying again with nothing new
          hour        the field hour, assembled from the open set, with two workers, compared with
                      pocketsphinx_continuous; word errors at seams
          seams       the same without pocketsphinx_continuous; then every profile on speech with its pauses removed
          memory      the memory of one worker and of two
          accuracy    word errors, CPU, memory and confidence of every profile of PocketSphinx and Moonshine and of
                      whisper, compared with pocketsphinx_continuous and Moonshine's own package, moonshine-voice from
                      PyPI; writes accuracy.json, and accuracy.svg to the folder given with --pictures
          recognition accuracy, plus the memory of two workers, the seams and the latency of every profile
          speakers    accuracy with each speaker's files joined into one recording, as a second pass transcribes them
          latency     in real time: the delays from the end of speech to its provisional and its committed text, and
                      from the closing of a group of utterances to its final text
          robustness  word errors with quiet, noisy, clipped and filtered audio, and at other sample rates
          music       text recognized in music
          unpaused    30 minutes of speech without a pause
          silence     text recognized in audio without speech and in other languages, and speech that is lost
          vocabulary  word errors with a vocabulary, in its words spoken by espeak-ng, and in speech without them
          names       word errors with a list of the names in the open set and a hundred others
          learning    half of the speech is corrected from the reference; the rest is transcribed with and without the
                      learned words
          punctuation whether full stops match the ends of a reader's sentences
          alignment   the alignment of known words: cost, failures, and errors of the start times
          diarization who spoke, in conversations mixed from files of single speakers. --only fit,judge,settings,hops,
                      edges,words,long,conversations selects parts; the default is fit,judge. settings, hops and edges
                      vary the settings, the hop between windows and the extension of speech, on `fit`; words:
                      attribution of words to speakers; long: CPU and memory for 10, 60 and 180 minutes;
                      conversations: writes the conversations themselves. Add clean, far, noise, noisy, room, telephone
                      or hard to measure only these conditions. Writes the input for pyannote.metrics, which computes
                      the same rates, to the folder given with --to
          parse       parsing corrections: seconds and memory for 1 and 10 MB of each format, and of hostile input
          calibrate   fits the constants of DecoderProfile.swift
          folds       each constant of Moonshine, chosen on four fifths of the speakers and judged on the other fifth,
                      for each fifth in turn: mean, spread, and the gain over the simplest value. Estimates the time,
                      and resumes an interrupted run if the program and the model are the same
          speech      the library Speech: text, CPU and memory compared with `transcribe --jobs 1`, an hour in buffers
                      of 20 ms, and the delay of its first volatile text; --every N also shortens the hour
          --every N   only every Nth file of the open set, the speech in ../shared/corpus
          --only live,final,fast,moonshine-live,moonshine-final,moonshine-fast,moonshine-small,whisper,
                      pocketsphinx_continuous,moonshine-voice
                      only these contenders; accuracy, recognition and hour show the last run's figures for the others
          --engine pocketsphinx|moonshine
                      the engine whose constants calibrate fits
          --model DIR Moonshine's model, as installed by deploy/model moonshine-tiny-en --folder DIR; default
                      FIELDSCRIBE_TEST_MODEL; without a model, Moonshine is skipped. FIELDSCRIBE_TEST_WHISPER is
                      the file of Whisper's model, which needs whisper-cli in PATH
          --program FILE
                      the executable to measure, such as the one of a package; default the one built here
          --speakers DIR
                      the speaker model, as installed by deploy/model speakers --folder DIR; default
                      FIELDSCRIBE_TEST_SPEAKERS
          --runs N    conversations per cell of a table, default 10
          --constant NAMES
                      the constants that folds measures, such as padding,beam; default all
          --cache FOLDER
                      the folder where folds keeps its results; default the results folder
          --jobs N    how many files folds transcribes at once; default one per processor
          --to FOLDER
                      the folder for copies and archives, on a stick or a slow disk
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
        var arguments = Array(CommandLine.arguments.dropFirst())
        let step = value(of: "--every", in: &arguments).flatMap { Int($0) } ?? 1
        let pictures = value(of: "--pictures", in: &arguments)
        let program = value(of: "--program", in: &arguments)
        let target = value(of: "--to", in: &arguments)
        let segments = value(of: "--segments", in: &arguments).flatMap { Int($0) } ?? 1_000_000
        let (engine, model) = (value(of: "--engine", in: &arguments), value(of: "--model", in: &arguments))
        let speakersFolder =
            value(of: "--speakers", in: &arguments) ?? environmentVariable("FIELDSCRIBE_TEST_SPEAKERS")
        let runs = value(of: "--runs", in: &arguments).flatMap { Int($0) } ?? 10
        let constants = value(of: "--constant", in: &arguments)?.split(separator: ",").map(String.init)
        let cache = value(of: "--cache", in: &arguments)
        let jobs = value(of: "--jobs", in: &arguments).flatMap { Int($0) } ?? sysconf(Int32(_SC_NPROCESSORS_ONLN))
        let only = value(of: "--only", in: &arguments)?.split(separator: ",").map(String.init)
        if arguments.isEmpty { arguments = ["capture", "hour"] }
        if arguments.first == "parse-case" { return ParseBenchmark.runCase(arguments.dropFirst()) }
        if arguments.first == "speech-case" { return SpeechBenchmark.runCase(arguments.dropFirst()) }
        let measurements = arguments.map { (argument: String) -> Measurement in
            if let measurement = Measurement(rawValue: argument) { return measurement }
            print(usage)
            exit(argument == "--help" ? 0 : 2)
        }
        let harness = try Harness(program: program, model: model)
        let targetFolder = target ?? harness.folder
        func chosen(_ contenders: [Contender] = Contender.all) -> [Contender] {
            Contender.chosen(contenders, among: only, in: harness)
        }
        func measureSpeech(_ measurement: Measurement, on open: Corpus) throws {
            switch measurement {
            case .export:
                try ExportBenchmark(harness: harness, target: targetFolder)
                    .run(HourBenchmark(harness: harness).makeHour().wave)
            case .hour: try HourBenchmark(harness: harness).run(chosen(), withPeer: true)
            case .seams:
                let contenders = chosen()
                try HourBenchmark(harness: harness).run(contenders.isEmpty ? [.live] : contenders, withPeer: false)
                for contender in contenders where !contender.isPeer && !contender.isSmallBoard {
                    let unpaused = try HourBenchmark(harness: harness).unpaused(open, by: contender, orders: 3)
                    print("the open set with its pauses removed, in three orders, \(contender.name): \(unpaused.text)")
                }
            case .memory: try MemoryBenchmark(harness: harness, corpus: open).run(chosen())
            case .robustness:
                try RobustnessBenchmark(harness: harness, corpus: open, chosen(Self.defaultContenders)).run()
            case .music: try RobustnessBenchmark(harness: harness, corpus: open, chosen()).music()
            case .unpaused:
                try HourBenchmark(harness: harness)
                    .longUnpaused(
                        open, chosen(Self.defaultContenders + Contender.peers), minutes: 30 / Double(max(1, step)))
            case .silence:
                try SilenceBenchmark(harness: harness, corpus: open, step: max(1, step)).run(
                    chosen(Self.defaultContenders))
            case .names: try NamesBenchmark(harness: harness, corpus: open).run(chosen(Self.defaultContenders))
            case .learning:
                try LearningBenchmark(harness: harness, corpus: open)
                    .run(only == nil ? chosen([Contender.moonshine[0]]) : chosen(Self.defaultContenders))
            case .vocabulary: try VocabularyBenchmark(harness: harness, corpus: open).run()
            case .punctuation: try PunctuationBenchmark(harness: harness, corpus: open).run()
            case .alignment: try AlignmentBenchmark(harness: harness, corpus: open).run()
            case .diarization:
                guard let speakersFolder else {
                    return print("skipped: diarization; pass the speaker model with --speakers DIR")
                }
                let runtimeFolders = [model, harness.model].compactMap(\.self)
                let speakers = SpeakerModel(path: speakersFolder)
                let conditions = Conversation.Condition.allCases.filter { only?.contains($0.rawValue) ?? false }
                let parts = only?.filter { Conversation.Condition(rawValue: $0) == nil }
                try DiarizationBenchmark(
                    harness: harness, corpus: open, model: speakers,
                    network: VoiceNetwork(speakers, beside: runtimeFolders), runtimeFolders: runtimeFolders,
                    runs: max(1, runs),
                    conditions: conditions.isEmpty ? Conversation.Condition.reported : conditions, output: target
                ).run(only: parts.flatMap { $0.isEmpty ? nil : $0 })
            case .calibrate:
                if engine == "moonshine" {
                    try MoonshineCalibration(harness: harness, corpus: open).run(chosen(Contender.moonshine))
                } else {
                    try CalibrationBenchmark(corpus: open).run(only: only)
                }
            case .folds:
                try FoldsBenchmark.run(
                    harness: harness, corpus: open, only: constants, cache: cache ?? "\(harness.folder)/folds",
                    jobs: max(1, jobs))
            case .speech:
                try SpeechBenchmark(harness: harness, corpus: open, minutes: 60 / Double(max(1, step)))
                    .run(chosen(Self.defaultContenders))
            case .latency:
                if only == nil, let reader = try open.reader(in: harness.folder) {
                    try LatencyBenchmark(harness: harness).run(reader.path)
                }
                try ProvisionalBenchmark(harness: harness, corpus: open)
                    .run(chosen(Self.defaultContenders + [Contender.small]))
            case .speakers:
                let speakers = try open.joined(in: harness.folder)
                try AccuracyBenchmark(harness: harness, corpus: speakers, title: "speakers")
                    .run(only: only, pictures: nil)
            case .accuracy, .recognition:
                try AccuracyBenchmark(harness: harness, corpus: open, isComplete: measurement == .recognition)
                    .run(only: only, pictures: pictures)
            case .capture, .appliance, .parse, .search, .start, .sealing, .copies:
                preconditionFailure("\(measurement) does not use the corpus")
            }
        }
        for measurement in measurements {
            defer { fflush(nil) }
            switch measurement {
            case .capture: try CaptureBenchmark(harness: harness).run()
            case .appliance: try ApplianceBenchmark(harness: harness).run(Self.speech)
            case .parse: try ParseBenchmark().run()
            case .search, .start:
                try SearchBenchmark(
                    harness: harness, target: targetFolder, segments: max(1, segments),
                    recordings: max(1, segments / 100), isComplete: measurement == .start
                ).run()
            case .sealing:
                let onlyStream = only == ["stream"]
                try SealingBenchmark(harness: harness, target: targetFolder).run(onlyStream: onlyStream)
                if onlyStream { continue }
                try SealedRecorderBenchmark(harness: harness, target: targetFolder, speech: Self.speech).run()
            case .copies: try CopiesBenchmark(harness: harness, target: targetFolder, count: 5_000).run()
            default:
                if let open = try Corpus.open()?.every(max(1, step)) {
                    try measureSpeech(measurement, on: open)
                } else {
                    print("skipped: \(measurement); \(Corpus.folder) does not exist")
                }
            }
        }
    }

    /// The contenders to compare by default.
    private static let defaultContenders = [Contender.live] + Contender.moonshine

    /// Real speech from the Debian package pocketsphinx-testdata. The simulated microphone is silent after it ends.
    private static let speech =
        "/usr/share/pocketsphinx/test/data/librivox/sense_and_sensibility_01_austen_64kb-0930.wav"

    private static func value(of option: String, in arguments: inout [String]) -> String? {
        guard let index = arguments.firstIndex(of: option), index + 1 < arguments.count else { return nil }
        defer { arguments.removeSubrange(index...(index + 1)) }
        return arguments[index + 1]
    }
}

extension DecoderProfile {
    /// Returns the profiles with these names, or all profiles if `names` is nil.
    static func all(among names: [String]?) -> [DecoderProfile] {
        all.filter { names?.contains($0.name) ?? true }
    }
}
