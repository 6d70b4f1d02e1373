import Core
import Glibc
import System

/// Measures the delay of provisional and final text while recording in real time, with pauses of one or five seconds.
struct ProvisionalBenchmark {
    /// In `moonshine-small`, Moonshine also produces the provisional text.
    private static let contenders = ["live", "moonshine-live", "moonshine-small"]
    /// Every `step`th file of `judge` is played.
    private static let step = 2
    /// The seconds of silence after the files, used in rotation.
    private static let pauses = [5, 1, 1]
    private static let maximumGap = 3.0
    private static let maximumGroup = 12.0
    private static let padding = 0.25
    /// The seconds at the end of an utterance that a partial text may lack.
    private static let tolerance = 0.1

    let harness: Harness
    let corpus: Corpus

    func run(_ contenders: [Contender]) throws {
        let path = try makeRecording()
        var table = Table(
            "seconds, in real time", "utterances", "without provisional text",
            "end of speech to its provisional text: median", "90th percentile",
            "groups", "closing of the group to final: median", "90th percentile", "end of speech to final: median")
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
                    // The first text of the complete utterance that stayed unchanged until the next utterance.
                    let partials = arrivals.filter {
                        $0.line.event == "partial" && $0.time < final.time && ($0.line.end ?? 0) >= end - Self.tolerance
                    }
                    let settled = partials.filter { ($0.line.end ?? 0) < (next?.line.start ?? .infinity) }
                    let first = settled.first { $0.line.text == settled.last?.line.text } ?? partials.first
                    if first == nil { unshown += 1 }
                    provisional.append((first ?? final).time - end)
                }
                groupStart = groupStart ?? start - Self.padding
                guard isGrouped else { continue }
                // The segments of a group arrive together.
                if let next, next.time - final.time < 0.2 { continue }
                if let first = groupStart, next != nil {
                    closings.append(final.time - min(end + Self.maximumGap, first + Self.maximumGroup))
                }
                groupStart = nil
            }
            table.add([
                contender.name, "\(provisional.count)", "\(unshown)", quantile(provisional, 0.5),
                quantile(provisional, 0.9),
                "\(closings.count)", quantile(closings, 0.5), quantile(closings, 0.9), quantile(finals, 0.5),
            ])
        }
        print(table.markdown)
    }

    private func quantile(_ values: [Double], _ share: Double) -> String {
        values.isEmpty ? "-" : shown(values.sorted()[min(values.count - 1, Int(Double(values.count) * share))], 2)
    }

    /// Joins some files, each followed by a pause; returns the path.
    private func makeRecording() throws -> String {
        var inputs: [String] = []
        for seconds in Set(Self.pauses) {
            try writeSilence(seconds: Double(seconds), to: "\(harness.folder)/pause-\(seconds).wav")
        }
        for (index, item) in corpus.part("judge").every(Self.step).items.enumerated() {
            inputs += [item.path, "\(harness.folder)/pause-\(Self.pauses[index % Self.pauses.count]).wav"]
        }
        let path = "\(harness.folder)/provisional.wav"
        try sox(inputs + ["\(harness.folder)/pause-5.wav", path])
        return path
    }

    private func record(_ path: String, _ contender: Contender) throws -> [RecordedEvent] {
        let storage = "\(harness.folder)/provisional-\(getpid())"
        defer { _ = try? MeasuredProcess(["rm", "-r", storage]) }
        try makeFolder(storage)
        let events = try harness.recordedEvents(
            of: path, in: storage, options: contender.options(in: harness),
            environment: contender.environment(in: harness))
        for event in events where event.line.event == "fault" {
            print("\(contender.name): \(event.line.message ?? "")")
        }
        return events
    }
}
