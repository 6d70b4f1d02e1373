import Core
import Glibc
import System

/// Measures the delay of provisional and final text while recording in real time, with pauses of one or five seconds.
struct ProvisionalBenchmark {
    /// In `moonshine-small`, Moonshine also produces the provisional text.
    private static let contenders = ["live", "moonshine-live", "moonshine-small"]
    /// Every `step`th file of `judge` is played.
    private static let step = 2
    /// The seconds of silence after each file, used in rotation.
    private static let pauses = [5, 1, 1]
    /// Seconds of silence after which a group is closed.
    private static let maximumGapSeconds = 3.0
    private static let maximumGroupSeconds = 12.0
    private static let paddingSeconds = 0.25
    /// The seconds at the end of an utterance that its provisional text need not include.
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
            let events = try record(path, contender)
            let isGrouped = contender.kind == .moonshine
            var (provisional, closings, finals) = ([Double](), [Double](), [Double]())
            var missingCount = 0
            let finalEvents = events.filter { $0.line.event == "final" }
            var groupStart: Double?
            for (index, final) in finalEvents.enumerated() {
                guard let start = final.line.start, let end = final.line.end else { continue }
                let next = index + 1 < finalEvents.count ? finalEvents[index + 1] : nil
                if final.line.endedBy == .silence, final.line.text?.isEmpty == false {
                    finals.append(final.time - end)
                    // Takes the first partial text of the complete utterance that equals the last one before the next
                    // utterance starts; if there is none, the first partial text of the complete utterance.
                    let partials = events.filter {
                        $0.line.event == "partial" && $0.time < final.time && ($0.line.end ?? 0) >= end - Self.tolerance
                    }
                    let stablePartials = partials.filter { ($0.line.end ?? 0) < (next?.line.start ?? .infinity) }
                    let first =
                        stablePartials.first { $0.line.text == stablePartials.last?.line.text } ?? partials.first
                    if first == nil { missingCount += 1 }
                    provisional.append((first ?? final).time - end)
                }
                groupStart = groupStart ?? start - Self.paddingSeconds
                guard isGrouped else { continue }
                // The segments of a group arrive together.
                if let next, next.time - final.time < 0.2 { continue }
                if let first = groupStart, next != nil {
                    closings.append(final.time - min(end + Self.maximumGapSeconds, first + Self.maximumGroupSeconds))
                }
                groupStart = nil
            }
            table.add([
                contender.name, "\(provisional.count)", "\(missingCount)", quantile(provisional, 0.5),
                quantile(provisional, 0.9),
                "\(closings.count)", quantile(closings, 0.5), quantile(closings, 0.9), quantile(finals, 0.5),
            ])
        }
        print(table.markdown)
    }

    private func quantile(_ values: [Double], _ share: Double) -> String {
        values.isEmpty ? "-" : formatted(values.sorted()[min(values.count - 1, Int(Double(values.count) * share))], 2)
    }

    /// Joins some files of `judge`, each followed by a pause; returns the path of the result.
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
