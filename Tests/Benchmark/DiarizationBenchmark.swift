import Core
import Diarizing
import FoundationEssentials
import Glibc
import Platform
import TestKit
import VoiceEmbedding

/// Who spoke, in conversations that were put together of single speakers: the diarization error rate and the number of people, through
/// the voice detector's regions.
struct DiarizationBenchmark {
    let corpus: Corpus
    let network: VoiceNetwork
    /// Conversations a cell.
    let runs: Int
    /// Where each conversation goes with what was told of it, so that another tool can compute the same; nil: nowhere.
    let output: String?

    private static let seconds = 180.0

    private struct Case {
        var condition: Conversation.Condition
        var people: Int
        var seed: UInt64
        var conversation: Conversation
        var regions: [SampleRange]
        var voices: [[Float]]
        var cpuSeconds: Double
    }

    /// - Parameter only: of `fit`, `judge` and `settings`, what is measured; nil: the first two.
    func run(only: [String]?) throws {
        let fits = only?.contains("settings") ?? false
        for part in Corpus.partNames where only?.contains(part) ?? true || fits && part == "fit" {
            let cases = try cases(of: part)
            if part == "fit", fits { fit(cases) }
            report(cases, part)
        }
    }

    /// Files by speaker, those of whom there is enough.
    private func speakers(of part: String) throws -> [[[Int16]]] {
        let groups = Dictionary(grouping: corpus.part(part).items.filter { ["lso", "lj", "sb"].contains($0.group) }) {
            item in item.group == "lso" ? String(item.name.prefix { $0 != "-" }) : item.group
        }
        return try groups.sorted { $0.key < $1.key }.map { try $0.value.map { try SeamReport.samples($0.path) } }
    }

    private func cases(of part: String) throws -> [Case] {
        let speakers = try speakers(of: part)
        var cases: [Case] = []
        for condition in Conversation.Condition.allCases {
            for people in 1...4 where people <= speakers.count {
                if people == 1, condition == .far || condition == .hard { continue }
                for run in 0..<runs {
                    let seed = UInt64(1_000 * people + run) + (part == "fit" ? 0 : 100_000)
                    var random = SeededGenerator(seed: seed)
                    let chosen = Array(speakers.shuffled(using: &random).prefix(people))
                    let conversation = Conversation(chosen, condition, seconds: Self.seconds, seed: seed)
                    let regions = conversation.regions
                    var voices: [[Float]] = []
                    let began = Self.cpu
                    _ = try diarized(conversation, regions) { features throws(DeviceError) in
                        voices.append(try network.voice(features))
                        return voices[voices.count - 1]
                    }
                    cases.append(
                        Case(
                            condition: condition, people: people, seed: seed, conversation: conversation,
                            regions: regions, voices: voices, cpuSeconds: Self.cpu - began))
                }
            }
        }
        return cases
    }

    private func diarized<Failure: Error>(
        _ conversation: Conversation, _ regions: [SampleRange], _ settings: Diarization.Settings = .init(),
        wanted: Int? = nil, voice: ([Float]) throws(Failure) -> [Float]
    ) throws(Failure) -> Speakers {
        var diarization = Diarization(settings)
        for region in regions {
            let samples = conversation.samples[Int(region.start.samples)..<Int(region.end.samples)]
            try diarization.add(Array(samples), at: region.start, voice: voice)
        }
        return diarization.speakers(wanted)
    }

    private func told(_ one: Case, _ settings: Diarization.Settings = .init(), wanted: Int? = nil) -> Speakers {
        var next = 0
        return diarized(one.conversation, one.regions, settings, wanted: wanted) { _ in
            defer { next += 1 }
            return one.voices[next]
        }
    }

    private static func annotation(_ speakers: Speakers) -> DiarizationErrors.Annotation {
        speakers.turns.map { ($0.speaker, $0.range) }
    }

    /// Each setting by itself, the others as they are.
    private func fit(_ cases: [Case]) {
        var table = Table(
            "rectified", "stop", "merge", "least, s", "change", "DER, %", "right number, of \(cases.count)")
        func add(_ settings: Diarization.Settings) {
            var sum = DiarizationErrors()
            var right = 0
            for one in cases {
                let speakers = told(one, settings)
                sum =
                    sum
                    + DiarizationErrors(
                        one.conversation.truth, Self.annotation(speakers), scoresOverlap: false)
                right += speakers.count == one.people ? 1 : 0
            }
            table.add([
                settings.isRectified ? "yes" : "no", shown(Double(settings.stop), 3), shown(Double(settings.merge), 3),
                shown(settings.leastSeconds, 1), shown(Double(settings.change), 2), shown(sum.percent, 2), "\(right)",
            ])
            fflush(nil)
        }
        for (rectified, stops, merges) in [
            (true, [0.45, 0.5, 0.55] as [Float], [0.7, 0.75, 0.8] as [Float]),
            (false, [0.25, 0.3, 0.35, 0.4, 0.45], [0.5, 0.55, 0.6, 0.65, 0.7]),
        ] {
            for stop in stops {
                for merge in merges {
                    var settings = Diarization.Settings()
                    (settings.isRectified, settings.stop, settings.merge) = (rectified, stop, merge)
                    add(settings)
                }
            }
        }
        for change in [0.1, 0.2, 0.3, 0.5, 0.8] as [Float] {
            var settings = Diarization.Settings()
            settings.change = change
            add(settings)
        }
        for least in [2.0, 3, 4, 6] {
            var settings = Diarization.Settings()
            settings.leastSeconds = least
            add(settings)
        }
        print("settings, on `fit`:\n\n\(table.markdown)")
    }

    private func report(_ cases: [Case], _ part: String) {
        var table = Table(
            "`\(part)`", "people", "DER, %", "missed", "false alarm", "confused", "DER with overlap", "right number",
            "DER, number told", "CPU s / s")
        for condition in Conversation.Condition.allCases {
            for people in 1...4 {
                let own = cases.filter { $0.condition == condition && $0.people == people }
                guard !own.isEmpty else { continue }
                var (sum, overlapped, given) = (DiarizationErrors(), DiarizationErrors(), DiarizationErrors())
                var right = 0
                for one in own {
                    let speakers = told(one)
                    let truth = one.conversation.truth
                    sum = sum + DiarizationErrors(truth, Self.annotation(speakers), scoresOverlap: false)
                    overlapped = overlapped + DiarizationErrors(truth, Self.annotation(speakers), scoresOverlap: true)
                    given =
                        given
                        + DiarizationErrors(
                            truth, Self.annotation(told(one, wanted: people)), scoresOverlap: false)
                    right += speakers.count == people ? 1 : 0
                    write(one, speakers)
                }
                let share = { (part: Int64) in shown(100 * Double(part) / Double(max(1, sum.total)), 1) }
                let seconds = own.reduce(0) { $0 + Double($1.conversation.samples.count) / Double(SamplePosition.rate) }
                table.add([
                    condition.rawValue, "\(people)", shown(sum.percent, 1), share(sum.missed), share(sum.falseAlarm),
                    share(sum.confused), shown(overlapped.percent, 1), "\(right) of \(own.count)",
                    shown(given.percent, 1), shown(own.reduce(0) { $0 + $1.cpuSeconds } / seconds, 3),
                ])
            }
        }
        let seeds = Set(cases.map(\.seed)).sorted().map(String.init).joined(separator: " ")
        print("\(table.markdown)\nseeds: \(seeds)\n")
        fflush(nil)
    }

    /// Reference, hypothesis and both rates as a line of JSON, for pyannote.metrics.
    private func write(_ one: Case, _ speakers: Speakers) {
        guard let output else { return }
        struct Line: Encodable {
            var reference: [[Int64]]
            var hypothesis: [[Int64]]
            var without: Double
            var with: Double
        }
        let truth = one.conversation.truth
        let rows = { (annotation: DiarizationErrors.Annotation) in
            annotation.map { [Int64($0.speaker), $0.range.start.samples, $0.range.end.samples] }
        }
        let own = Self.annotation(speakers)
        let line = Line(
            reference: rows(truth), hypothesis: rows(own),
            without: DiarizationErrors(truth, own, scoresOverlap: false).percent,
            with: DiarizationErrors(truth, own, scoresOverlap: true).percent)
        guard let data = try? JSONEncoder().encode(line), let file = fopen("\(output)/diarization.jsonl", "a") else {
            return
        }
        fputs(String(decoding: data, as: UTF8.self) + "\n", file)
        fclose(file)
    }

    private static var cpu: Double { Double(clock()) / Double(CLOCKS_PER_SEC) }
}
