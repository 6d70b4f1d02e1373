import Core
import Glibc
import System

/// The delay of live and final text while recording in real time, for people who pause for one or five seconds.
struct ProvisionalBenchmark {
    /// With `moonshine-small`, Moonshine also gives the provisional text.
    private static let contenders = ["live", "moonshine-live", "moonshine-small"]
    /// The step between files of `judge` that are played.
    private static let step = 2
    /// The seconds of silence after files, in turn.
    private static let pauses = [5, 1, 1]
    private static let longestGap = 3.0
    private static let longestGroup = 12.0
    private static let padding = 0.25
    /// The seconds at an utterance's end that a partial text may lack.
    private static let near = 0.1

    let workshop: Workshop
    let corpus: Corpus

    func run(_ contenders: [Contender]) throws {
        let path = try play()
        var table = Table(
            "seconds, in real time", "utterances", "shown as final only",
            "end of speech to its provisional text: median", "nine of ten",
            "groups", "closing of the group to final: median", "nine of ten", "end of speech to final: median")
        for contender in contenders where Self.contenders.contains(contender.name) {
            let arrivals = try record(path, contender)
            let isGrouped = contender.kind == .moonshine
            var (provisional, closings, finals) = ([Double](), [Double](), [Double]())
            var unshown = 0
            let ends = arrivals.filter { $0.line.event == "final" }
            var groupStart: Double?
            for (index, final) in ends.enumerated() {
                guard let start = final.line.start, let end = final.line.end else { continue }
                let next = index + 1 < ends.count ? ends[index + 1] : nil
                if final.line.endedBy == .silence, final.line.text?.isEmpty == false {
                    finals.append(final.time - end)
                    // The first text of the whole utterance that did not change before the next utterance.
                    let shown = arrivals.filter {
                        $0.line.event == "partial" && $0.time < final.time && ($0.line.end ?? 0) >= end - Self.near
                    }
                    let settled = shown.filter { ($0.line.end ?? 0) < (next?.line.start ?? .infinity) }
                    let first = settled.first { $0.line.text == settled.last?.line.text } ?? shown.first
                    if first == nil { unshown += 1 }
                    provisional.append((first ?? final).time - end)
                }
                groupStart = groupStart ?? start - Self.padding
                guard isGrouped else { continue }
                // The segments of a group arrive together.
                if let next, next.time - final.time < 0.2 { continue }
                if let first = groupStart, next != nil {
                    closings.append(final.time - min(end + Self.longestGap, first + Self.longestGroup))
                }
                groupStart = nil
            }
            table.add([
                contender.name, "\(provisional.count)", "\(unshown)", part(provisional, 0.5), part(provisional, 0.9),
                "\(closings.count)", part(closings, 0.5), part(closings, 0.9), part(finals, 0.5),
            ])
        }
        print(table.markdown)
    }

    private func part(_ values: [Double], _ share: Double) -> String {
        values.isEmpty ? "-" : shown(values.sorted()[min(values.count - 1, Int(Double(values.count) * share))], 2)
    }

    /// Joins some files, each followed by a pause; returns the path.
    private func play() throws -> String {
        var words: [String] = []
        for seconds in Set(Self.pauses) {
            try writeSilence(seconds: Double(seconds), to: "\(workshop.folder)/pause-\(seconds).wav")
        }
        for (index, item) in corpus.part("judge").every(Self.step).items.enumerated() {
            words += [item.path, "\(workshop.folder)/pause-\(Self.pauses[index % Self.pauses.count]).wav"]
        }
        let path = "\(workshop.folder)/provisional.wav"
        try sox(words + ["\(workshop.folder)/pause-5.wav", path])
        return path
    }

    private func record(_ path: String, _ contender: Contender) throws -> [RecordedEvent] {
        let storage = "\(workshop.folder)/provisional-\(getpid())"
        defer { _ = try? MeasuredProcess(["rm", "-r", storage]) }
        try makeFolder(storage)
        let events = try workshop.recordedEvents(
            of: path, in: storage, options: contender.options(in: workshop),
            environment: contender.environment(in: workshop))
        for event in events where event.line.event == "fault" {
            print("\(contender.name): \(event.line.message ?? "")")
        }
        return events
    }
}
