import Core
import Glibc
import Recognition
import System
import TestKit

/// Chooses each constant of Moonshine on four fifths of the speakers and measures its errors on the last fifth, with
/// each fifth as the last.
struct FoldsBenchmark: Sendable {
    static let count = 5
    /// The number of files after which the remaining time is estimated.
    private static let firstFiles = 8

    let speech: [FoldSound]
    let soundless: [FoldSound]
    /// Sentences in other languages than the model's.
    var foreign: [FoldSound] = []
    let cache: FoldCache
    /// How many sounds are read at once.
    let jobs: Int
    let open: @Sendable (Tuning) throws -> any FoldReader
    /// Called with each finished part of the report.
    var report: @Sendable (String) -> Void = {
        print($0)
        fflush(nil)
    }

    /// Reads the corpus with the model of the workshop, and returns when everything is reported.
    ///
    /// - Parameter names: the constants; nil for all.
    /// - Throws: `DeviceError` with `unsupported` for an unknown constant, and the errors of `run(_:)`.
    static func run(workshop: Workshop, corpus: Corpus, only names: [String]?, cache: String, jobs: Int) throws {
        guard let model = workshop.model else {
            print("skipped: folds; name Moonshine's model with --model DIR or FIELDSCRIBE_TEST_MODEL")
            return
        }
        let constants = TunedConstant.all.filter { names?.contains($0.name) ?? true }
        guard constants.count == names?.count ?? constants.count else {
            let known = TunedConstant.all.map(\.name).joined(separator: ", ")
            throw DeviceError(.unsupported, "benchmark", "--constant: allowed are \(known)")
        }
        let kept = try FoldCache(folder: cache, program: FoldCache.digest(model: model))
        let list = try NamesBenchmark.writeList(in: cache)
        var made = Soundless(seed: SilenceBenchmark.seed)
        let isForeign = constants.contains { $0.sound == .withForeign }
        let foreign = isForeign ? try OtherLanguages(workshop: workshop).foreign() : []
        let folds = FoldsBenchmark(
            speech: try corpus.items.map { FoldSound($0, speaker: $0.speaker, try SeamReport.samples($0.path)) },
            soundless: made.pieces().map { piece in
                FoldSound(
                    Corpus.Item(path: piece.name, text: ""), speaker: String(piece.name.prefix { $0 != "-" }), piece.pcm
                )
            },
            foreign: foreign, cache: kept, jobs: jobs
        ) { tuning in
            guard !tuning.hasFeatures else { return try FeatureReader(tuning, model: model) }
            return TranscribingReader(tuning, model: model, vocabulary: tuning.hasNames ? list : nil, jobs: jobs)
        }
        let result = BlockingResult<Result<Void, any Error>>()
        Task { result.set(await Result.of { try await folds.run(constants) }) }
        try result.wait().get()
    }

    /// Reads what the cache lacks, and reports each constant when all its values are read.
    ///
    /// - Throws: errors of readers and the cache; `DeviceError` with `unsupported` for too few speakers.
    func run(_ constants: [TunedConstant]) async throws {
        let folds = try Folds(speech, soundless, foreign)
        report(folds.table(speech, soundless).markdown)
        var progress = Progress(try missing(constants))
        let now = FoldTable(cells: [folds.wordErrors(speech, try await read(speech, by: Tuning(), &progress))])
        let spread = FoldTable.Spread(now.rates(of: 0))
        report(
            "Word errors with today's constants: \(shown(100 * spread.mean, 2)) % on average of the folds, spread "
                + "\(shown(100 * spread.deviation, 2)).\n")
        var summary = Table(
            "constant", "simplest", "today", "chosen for each fold", "simplest, told", "chosen, told", "spread", "gain",
            "spread of the gain")
        var simple: [String] = []
        for constant in constants {
            let table = try await table(of: constant, folds, &progress)
            let shownTable = ShownFolds(constant, table)
            report(shownTable.markdown)
            summary.add(shownTable.row)
            if table.isBelowSpread { simple.append(constant.name) }
            if let left = progress.left { report("\(left)\n") }
        }
        report(summary.markdown)
        report(
            simple.isEmpty
                ? "Each constant gains more than the spread of its gain."
                : "No gain above its spread, so the simplest value will do: \(simple.joined(separator: ", ")).")
    }

    private func sounds(of constant: TunedConstant) -> [FoldSound] {
        switch constant.sound {
        case .speech: speech
        case .quiet: speech.map(\.quiet)
        case .unpaused: FoldSound.unpaused(speech)
        case .withSoundless: speech + soundless
        case .withForeign: speech + FoldSound.unpaused(speech) + foreign
        }
    }

    /// Returns the seconds of each sound that is not in the cache yet.
    private func missing(_ constants: [TunedConstant]) throws -> [Double] {
        var planned: [Tuning: Set<String>] = [:]
        var seconds: [Double] = []
        let wanted = [([Tuning()], speech)] + constants.map { ($0.tunings, sounds(of: $0)) }
        for (tunings, sounds) in wanted {
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

    /// Returns a reading of each sound, from the cache if it has one.
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
                    try cache.keep(reading, of: sounds[index], by: tuning)
                    readings[index] = reading
                    progress.read(sounds[index].seconds)
                    if progress.files == Self.firstFiles, let left = progress.left {
                        report("\(left); interrupted, it continues with what is in \(cache.folder).\n")
                    }
                    if let next = missing.next() { start(next) }
                }
            }
        }
        await reader.finish()
        try result.get()
        return readings.compactMap(\.self)
    }

    /// The remaining sounds, and the time to read them.
    private struct Progress {
        private let began = MonotonicClock.nanoseconds
        private var seconds: Double
        private var secondsRead = 0.0
        private var filesLeft: Int
        private(set) var files = 0

        /// - Parameter missing: the seconds of each sound.
        init(_ missing: [Double]) { (seconds, filesLeft) = (missing.reduce(0, +), missing.count) }

        mutating func read(_ seconds: Double) {
            self.seconds -= seconds
            secondsRead += seconds
            (files, filesLeft) = (files + 1, filesLeft - 1)
        }

        /// The remaining time as text; nil if everything is read, or nothing yet.
        var left: String? {
            guard filesLeft > 0, secondsRead > 0 else { return nil }
            let taken = Double(MonotonicClock.nanoseconds - began) / 1e9
            let minutes = Int((taken / secondsRead * seconds / 60).rounded(.up))
            return "\(filesLeft) readings are left, about \(minutes / 60) h \(minutes % 60) min"
        }
    }
}

/// The folds, and the figures of each.
private struct Folds {
    private let people: SpeakerFolds
    private let kinds: SpeakerFolds
    private let languages: SpeakerFolds

    /// - Throws: `DeviceError` with `unsupported` for too few speakers.
    init(_ speech: [FoldSound], _ soundless: [FoldSound], _ foreign: [FoldSound]) throws(DeviceError) {
        people = SpeakerFolds(Self.sums(speech) { Double(Self.words(of: $0)) }, count: FoldsBenchmark.count)
        kinds = SpeakerFolds(Self.sums(soundless, of: \.seconds), count: FoldsBenchmark.count)
        languages = SpeakerFolds(Self.sums(foreign, of: \.seconds), count: FoldsBenchmark.count)
        guard people.speakers.allSatisfy({ !$0.isEmpty }) else {
            throw DeviceError(.unsupported, "benchmark", "folds: there are fewer than five speakers; use more files")
        }
    }

    private static func words(of sound: FoldSound) -> Int { WordErrorRate.normalized(sound.item.text).count }

    private static func sums(_ sounds: [FoldSound], of size: (FoldSound) -> Double) -> [String: Double] {
        sounds.reduce(into: [:]) { $0[$1.speaker, default: 0] += size($1) }
    }

    private func fold(of sound: FoldSound) -> Int? {
        [people, kinds, languages].lazy.compactMap { $0.fold(of: sound.speaker) }.first
    }

    func table(_ speech: [FoldSound], _ soundless: [FoldSound]) -> Table {
        var table = Table("fold", "speakers", "files", "words", "minutes", "sounds without speech", "files", "minutes")
        func minutes(_ sounds: [FoldSound]) -> String { shown(sounds.reduce(0) { $0 + $1.seconds } / 60, 1) }
        for fold in 0..<FoldsBenchmark.count {
            let spoken = speech.filter { self.fold(of: $0) == fold }
            let other = soundless.filter { self.fold(of: $0) == fold }
            table.add([
                "\(fold + 1)", people.speakers[fold].joined(separator: ", "), "\(spoken.count)",
                "\(spoken.reduce(0) { $0 + Self.words(of: $1) })", minutes(spoken),
                kinds.speakers[fold].joined(separator: ", "), "\(other.count)", minutes(other),
            ])
        }
        return table
    }

    /// Returns word errors by fold; each word in a sound without speech, or in another language, counts as
    /// one.
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

    /// Returns the log loss of confidence by number of features and fold, with weights fitted on the other folds.
    func logLosses(_ sounds: [FoldSound], _ readings: [FoldReading], features: [Int]) -> [[FoldTable.Cell]] {
        var samples = [[LogisticFit.Sample]](repeating: [], count: FoldsBenchmark.count)
        for (sound, reading) in zip(sounds, readings) {
            guard let fold = fold(of: sound) else { continue }
            let words = zip(reading.words, reading.features ?? []).map { (text: $0, features: $1) }
            samples[fold] += LogisticFit.samples(words, of: sound.item)
        }
        return features.map { count in
            let cut = samples.map { fold in
                fold.map {
                    LogisticFit.Sample(features: Array($0.features.prefix(count)), isRight: $0.isRight, speaker: "")
                }
            }
            return cut.indices.map { told in
                let fit = LogisticFit(cut.indices.filter { $0 != told }.flatMap { cut[$0] })
                return FoldTable.Cell(
                    errors: cut[told].reduce(0) { $0 + fit.loss($1) }, count: Double(cut[told].count))
            }
        }
    }
}

/// A constant's table in Markdown.
private struct ShownFolds {
    private let constant: TunedConstant
    private let table: FoldTable

    init(_ constant: TunedConstant, _ table: FoldTable) { (self.constant, self.table) = (constant, table) }

    private var isConfidence: Bool { constant.name == TunedConstant.confidence }

    /// Word errors in percent; log losses as they are.
    private func shownRate(_ rate: Double) -> String { isConfidence ? shown(rate, 4) : shown(100 * rate, 2) }

    private func value(_ index: Int) -> String {
        let value = constant.values[index]
        return value.isInfinite ? "off" : value == value.rounded() ? "\(Int(value))" : "\(value)"
    }

    var markdown: String {
        let folds = table.chosen.indices
        let (unit, sounds) = (isConfidence ? "log loss" : "word errors, %", Self.sounds(constant.sound))
        var rows = Table(["\(constant.name): \(unit), \(sounds)"] + folds.map { "fold \($0 + 1)" } + Self.columns)
        for index in constant.values.indices {
            let notes = [index == 0 ? "simplest" : nil, index == constant.today ? "today" : nil].compactMap(\.self)
            let note = notes.isEmpty ? "" : " (\(notes.joined(separator: ", ")))"
            let rates = table.rates(of: index)
            rows.add([value(index) + note] + (rates + figures(of: rates)).map(shownRate))
        }
        rows.add(["chosen on the others"] + table.chosen.map(value) + Self.columns.map { _ in "" })
        rows.add(["told"] + (table.told + figures(of: table.told)).map(shownRate))
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

    /// For the summary.
    var row: [String] {
        [constant.name, value(0), value(constant.today), table.chosen.map(value).joined(separator: ", ")]
            + ([FoldTable.Spread(table.rates(of: 0)).mean] + figures(of: table.told)).map(shownRate)
    }
}
