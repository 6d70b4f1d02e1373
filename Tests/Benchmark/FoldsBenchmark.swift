import Core
import Glibc
import Recognition
import System
import TestKit

/// Chooses each constant of Moonshine on four fifths of the speakers and measures the errors on the remaining fifth,
/// for each fifth in turn.
struct FoldsBenchmark: Sendable {
    static let count = 5
    /// The number of files after which the remaining time is first estimated.
    private static let firstFiles = 8

    let speech: [FoldSound]
    let nonSpeech: [FoldSound]
    /// Sentences in languages that the model does not support.
    var foreign: [FoldSound] = []
    let cache: FoldCache
    /// The number of sounds that are transcribed at once.
    let jobs: Int
    let open: @Sendable (Tuning) throws -> any FoldReader
    /// Receives each section of the report.
    var report: @Sendable (String) -> Void = {
        print($0)
        fflush(nil)
    }

    /// Measures the constants on the corpus with the harness's model, and reports the results.
    ///
    /// - Parameter names: the names of the constants; nil for all.
    /// - Throws: `DeviceError` with `unsupported` for an unknown constant, and the errors of `run(_:)`.
    static func run(harness: Harness, corpus: Corpus, only names: [String]?, cache: String, jobs: Int) throws {
        guard let model = harness.model else {
            print("skipped: folds; pass Moonshine's model with --model DIR or FIELDSCRIBE_TEST_MODEL")
            return
        }
        let constants = TunedConstant.all.filter { names?.contains($0.name) ?? true }
        guard constants.count == names?.count ?? constants.count else {
            let allowed = TunedConstant.all.map(\.name).joined(separator: ", ")
            throw DeviceError(.unsupported, "benchmark", "--constant: unknown name. The constants are \(allowed)")
        }
        let foldCache = try FoldCache(folder: cache, program: FoldCache.digest(model: model))
        let list = try NamesBenchmark.writeList(in: cache)
        var generator = NonSpeechSounds(seed: SilenceBenchmark.seed)
        let isForeign = constants.contains { $0.sound == .withForeign }
        let foreign = isForeign ? try OtherLanguages(harness: harness).foreign() : []
        let folds = FoldsBenchmark(
            speech: try corpus.items.map { FoldSound($0, speaker: $0.speaker, try SeamReport.samples($0.path)) },
            nonSpeech: generator.pieces().map { sound in
                FoldSound(
                    Corpus.Item(path: sound.name, text: ""), speaker: String(sound.name.prefix { $0 != "-" }), sound.pcm
                )
            },
            foreign: foreign, cache: foldCache, jobs: jobs
        ) { tuning in
            guard !tuning.hasFeatures else { return try FeatureReader(tuning, model: model) }
            return TranscribingReader(tuning, model: model, vocabulary: tuning.hasNames ? list : nil, jobs: jobs)
        }
        let result = BlockingResult<Result<Void, any Error>>()
        Task { result.set(await Result.of { try await folds.run(constants) }) }
        try result.wait().get()
    }

    /// Transcribes the sounds that are missing from the cache, and reports each constant once all its values are
    /// measured.
    ///
    /// - Throws: errors from readers and the cache; `DeviceError` with `unsupported` for too few speakers.
    func run(_ constants: [TunedConstant]) async throws {
        let folds = try Folds(speech, nonSpeech, foreign)
        report(folds.table(speech, nonSpeech).markdown)
        var progress = Progress(try missing(constants))
        let today = FoldTable(cells: [folds.wordErrors(speech, try await read(speech, by: Tuning(), &progress))])
        let spread = FoldTable.Spread(today.rates(of: 0))
        report(
            "Word errors with today's constants: \(formatted(100 * spread.mean, 2)) % on average over the folds, "
                + "spread \(formatted(100 * spread.deviation, 2)).\n")
        var summary = Table(
            "constant", "simplest", "today", "chosen for each fold", "simplest, held out", "chosen, held out",
            "spread", "gain", "spread of the gain")
        var superfluous: [String] = []
        for constant in constants {
            let table = try await table(of: constant, folds, &progress)
            let formatter = FoldTableFormatter(constant, table)
            report(formatter.markdown)
            summary.add(formatter.summaryRow)
            if table.isBelowSpread { superfluous.append(constant.name) }
            if let estimate = progress.estimate { report("\(estimate)\n") }
        }
        report(summary.markdown)
        report(
            superfluous.isEmpty
                ? "Each constant gains more than the spread of its gain."
                : "The gain does not exceed its spread, so the simplest value is good enough: "
                    + "\(superfluous.joined(separator: ", ")).")
    }

    private func sounds(of constant: TunedConstant) -> [FoldSound] {
        switch constant.sound {
        case .speech: speech
        case .quiet: speech.map(\.quiet)
        case .unpaused: FoldSound.unpaused(speech)
        case .withSoundless: speech + nonSpeech
        case .withForeign: speech + FoldSound.unpaused(speech) + foreign
        }
    }

    /// Returns the durations in seconds of the sounds to transcribe: one for each sound and tuning whose reading is not
    /// in the cache.
    private func missing(_ constants: [TunedConstant]) throws -> [Double] {
        var planned: [Tuning: Set<String>] = [:]
        var seconds: [Double] = []
        let needed = [([Tuning()], speech)] + constants.map { ($0.tunings, sounds(of: $0)) }
        for (tunings, sounds) in needed {
            for tuning in tunings {
                for sound in sounds where planned[tuning, default: []].insert(sound.digest).inserted {
                    if cache.reading(of: sound, by: tuning) == nil { seconds.append(sound.seconds) }
                }
            }
        }
        return seconds
    }

    private func table(
        of constant: TunedConstant, _ folds: Folds, _ progress: inout Progress
    ) async throws -> FoldTable {
        let sounds = sounds(of: constant)
        if constant.name == TunedConstant.confidence {
            let readings = try await read(sounds, by: constant.tunings[0], &progress)
            return FoldTable(cells: folds.logLosses(sounds, readings, features: constant.values.map { Int($0) }))
        }
        var cells: [[FoldTable.Cell]] = []
        for tuning in constant.tunings {
            cells.append(folds.wordErrors(sounds, try await read(sounds, by: tuning, &progress)))
        }
        return FoldTable(cells: cells)
    }

    /// Returns the words recognized in each sound, from the cache if possible.
    private func read(
        _ sounds: [FoldSound], by tuning: Tuning, _ progress: inout Progress
    ) async throws -> [FoldReading] {
        var readings = sounds.map { cache.reading(of: $0, by: tuning) }
        var missing = readings.indices.filter { readings[$0] == nil }.makeIterator()
        guard let first = missing.next() else { return readings.compactMap(\.self) }
        let reader = try open(tuning)
        let result = await Result.of {
            try await withThrowingTaskGroup(of: (Int, FoldReading).self) { group in
                func start(_ index: Int) {
                    let sound = sounds[index]
                    group.addTask { (index, try await reader.read(sound.samples)) }
                }
                start(first)
                for _ in 1..<max(1, jobs) { if let next = missing.next() { start(next) } }
                while let (index, reading) = try await group.next() {
                    try cache.store(reading, of: sounds[index], by: tuning)
                    readings[index] = reading
                    progress.addReading(sounds[index].seconds)
                    if progress.files == Self.firstFiles, let estimate = progress.estimate {
                        report("\(estimate). If interrupted, the next run continues from \(cache.folder).\n")
                    }
                    if let next = missing.next() { start(next) }
                }
            }
        }
        await reader.finish()
        try result.get()
        return readings.compactMap(\.self)
    }

    /// Counts the sounds that remain to be transcribed, and estimates the time for them.
    private struct Progress {
        private let began = MonotonicClock.nanoseconds
        private var secondsLeft: Double
        private var secondsRead = 0.0
        private var filesLeft: Int
        private(set) var files = 0

        /// - Parameter durations: the durations in seconds of the sounds to transcribe.
        init(_ durations: [Double]) { (secondsLeft, filesLeft) = (durations.reduce(0, +), durations.count) }

        mutating func addReading(_ seconds: Double) {
            secondsLeft -= seconds
            secondsRead += seconds
            (files, filesLeft) = (files + 1, filesLeft - 1)
        }

        /// The remaining time as text; nil before the first sound is transcribed, and after the last.
        var estimate: String? {
            guard filesLeft > 0, secondsRead > 0 else { return nil }
            let elapsed = Double(MonotonicClock.nanoseconds - began) / 1e9
            let minutes = Int((elapsed / secondsRead * secondsLeft / 60).rounded(.up))
            return "\(filesLeft) readings are left, taking about \(minutes / 60) h \(minutes % 60) min"
        }
    }
}

/// Divides speakers, non-speech sounds and languages into folds, and computes the figures of each fold.
private struct Folds {
    private let people: SpeakerFolds
    private let kinds: SpeakerFolds
    private let languages: SpeakerFolds

    /// - Throws: `DeviceError` with `unsupported` for too few speakers.
    init(_ speech: [FoldSound], _ nonSpeech: [FoldSound], _ foreign: [FoldSound]) throws(DeviceError) {
        people = SpeakerFolds(Self.sums(speech) { Double(Self.words(of: $0)) }, count: FoldsBenchmark.count)
        kinds = SpeakerFolds(Self.sums(nonSpeech, of: \.seconds), count: FoldsBenchmark.count)
        languages = SpeakerFolds(Self.sums(foreign, of: \.seconds), count: FoldsBenchmark.count)
        guard people.speakers.allSatisfy({ !$0.isEmpty }) else {
            throw DeviceError(.unsupported, "benchmark", "folds need at least five speakers; use more files")
        }
    }

    private static func words(of sound: FoldSound) -> Int { WordErrorRate.normalized(sound.item.text).count }

    private static func sums(_ sounds: [FoldSound], of size: (FoldSound) -> Double) -> [String: Double] {
        sounds.reduce(into: [:]) { $0[$1.speaker, default: 0] += size($1) }
    }

    private func fold(of sound: FoldSound) -> Int? {
        [people, kinds, languages].lazy.compactMap { $0.fold(of: sound.speaker) }.first
    }

    func table(_ speech: [FoldSound], _ nonSpeech: [FoldSound]) -> Table {
        var table = Table("fold", "speakers", "files", "words", "minutes", "sounds without speech", "files", "minutes")
        func minutes(_ sounds: [FoldSound]) -> String { formatted(sounds.reduce(0) { $0 + $1.seconds } / 60, 1) }
        for fold in 0..<FoldsBenchmark.count {
            let speechFiles = speech.filter { self.fold(of: $0) == fold }
            let nonSpeechFiles = nonSpeech.filter { self.fold(of: $0) == fold }
            table.add([
                "\(fold + 1)", people.speakers[fold].joined(separator: ", "), "\(speechFiles.count)",
                "\(speechFiles.reduce(0) { $0 + Self.words(of: $1) })", minutes(speechFiles),
                kinds.speakers[fold].joined(separator: ", "), "\(nonSpeechFiles.count)", minutes(nonSpeechFiles),
            ])
        }
        return table
    }

    /// Returns the word errors of each fold. Every word in a sound without speech or in another language counts as an
    /// error.
    func wordErrors(_ sounds: [FoldSound], _ readings: [FoldReading]) -> [FoldTable.Cell] {
        var cells = [FoldTable.Cell](repeating: FoldTable.Cell(), count: FoldsBenchmark.count)
        for (sound, reading) in zip(sounds, readings) {
            guard let fold = fold(of: sound) else { continue }
            let rate = WordErrorRate(
                reference: sound.item.text, hypothesis: reading.words.joined(separator: " "))
            cells[fold] = cells[fold] + FoldTable.Cell(errors: Double(rate.errors), count: Double(rate.words))
        }
        return cells
    }

    /// Returns the log loss of the confidences for each number of features and each fold, with weights fitted on the
    /// other folds.
    func logLosses(_ sounds: [FoldSound], _ readings: [FoldReading], features: [Int]) -> [[FoldTable.Cell]] {
        var samples = [[LogisticFit.Sample]](repeating: [], count: FoldsBenchmark.count)
        for (sound, reading) in zip(sounds, readings) {
            guard let fold = fold(of: sound) else { continue }
            let words = zip(reading.words, reading.features ?? []).map { (text: $0, features: $1) }
            samples[fold] += LogisticFit.samples(words, of: sound.item)
        }
        return features.map { count in
            let truncated = samples.map { fold in
                fold.map {
                    LogisticFit.Sample(features: Array($0.features.prefix(count)), isRight: $0.isRight, speaker: "")
                }
            }
            return truncated.indices.map { heldOut in
                let fit = LogisticFit(truncated.indices.filter { $0 != heldOut }.flatMap { truncated[$0] })
                return FoldTable.Cell(
                    errors: truncated[heldOut].reduce(0) { $0 + fit.loss($1) },
                    count: Double(truncated[heldOut].count))
            }
        }
    }
}

/// Formats a constant's table as Markdown.
private struct FoldTableFormatter {
    private let constant: TunedConstant
    private let table: FoldTable

    init(_ constant: TunedConstant, _ table: FoldTable) { (self.constant, self.table) = (constant, table) }

    private var isConfidence: Bool { constant.name == TunedConstant.confidence }

    /// Formats word errors in percent, and log losses unchanged.
    private func rateText(_ rate: Double) -> String { isConfidence ? formatted(rate, 4) : formatted(100 * rate, 2) }

    private func value(_ index: Int) -> String {
        let value = constant.values[index]
        return value.isInfinite ? "off" : value == value.rounded() ? "\(Int(value))" : "\(value)"
    }

    var markdown: String {
        let folds = table.chosenIndices.indices
        let (unit, sounds) = (isConfidence ? "log loss" : "word errors, %", Self.sounds(constant.sound))
        var rows = Table(["\(constant.name): \(unit), \(sounds)"] + folds.map { "fold \($0 + 1)" } + Self.columns)
        for index in constant.values.indices {
            let notes = [index == 0 ? "simplest" : nil, index == constant.today ? "today" : nil].compactMap(\.self)
            let note = notes.isEmpty ? "" : " (\(notes.joined(separator: ", ")))"
            let rates = table.rates(of: index)
            rows.add([value(index) + note] + (rates + figures(of: rates)).map(rateText))
        }
        rows.add(["chosen on the other folds"] + table.chosenIndices.map(value) + Self.columns.map { _ in "" })
        rows.add(["held out"] + (table.heldOutRates + figures(of: table.heldOutRates)).map(rateText))
        return rows.markdown
    }

    private static let columns = ["mean", "spread", "gain", "spread of the gain"]

    private func figures(of rates: [Double]) -> [Double] {
        let (spread, gain) = (FoldTable.Spread(rates), table.gain(of: rates))
        return [spread.mean, spread.deviation, gain.mean, gain.deviation]
    }

    private static func sounds(_ sound: TunedConstant.Sound) -> String {
        switch sound {
        case .speech: "speech"
        case .quiet: "speech at -45 dB"
        case .unpaused: "speech without its pauses"
        case .withSoundless: "speech and sounds without speech"
        case .withForeign: "speech with and without its pauses, and other languages"
        }
    }

    /// The cells for the summary.
    var summaryRow: [String] {
        [constant.name, value(0), value(constant.today), table.chosenIndices.map(value).joined(separator: ", ")]
            + ([FoldTable.Spread(table.rates(of: 0)).mean] + figures(of: table.heldOutRates)).map(rateText)
    }
}
