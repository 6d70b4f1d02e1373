import Core
import Glibc

extension DiarizationBenchmark {
    /// Varies each constant of `SpeechEdges` separately, and measures missed speech and false alarms on `fit`.
    func measureEdges() throws {
        var conversations: [(condition: Conversation.Condition, conversation: Conversation, regions: [SampleRange])] =
            []
        try eachConversation(of: "fit", conditions + [.noisy]) { condition, people, _, conversation in
            conversations.append((condition, conversation, conversation.regions))
        }
        var table = Table(
            "smoothing", "floor", "margin, dB", "minimum excess, dB", "maximum gap, frames", "range, dB",
            "missed and false alarm, %", "noise", "noisy", "hard", "others")
        func add(_ settings: SpeechEdges.Settings) {
            var diarizationSettings = Diarization.Settings()
            diarizationSettings.edges = settings
            let errors = conversations.map { item in
                let speakers = diarize(item.conversation, item.regions, diarizationSettings) { (_: [Float]) in [1] }
                return Self.errors(item.conversation, speakers)
            }
            func share(_ isIncluded: (Int) -> Bool) -> String {
                let sum = errors.indices.filter(isIncluded).reduce(DiarizationErrors()) { $0 + errors[$1] }
                return formatted(100 * Double(sum.missed + sum.falseAlarm) / Double(max(1, sum.total)), 2)
            }
            let conditions = conversations.map(\.condition)
            table.add([
                "\(settings.smoothing)", formatted(settings.floor, 2), formatted(Double(settings.margin), 2),
                formatted(Double(settings.minimumExcess), 3), "\(settings.maximumGap)",
                formatted(Double(settings.range), 1),
                share { _ in true }, share { conditions[$0] == .noise }, share { conditions[$0] == .noisy },
                share { conditions[$0] == .hard }, share { ![.noise, .noisy, .hard].contains(conditions[$0]) },
            ])
        }
        func vary(_ change: (inout SpeechEdges.Settings) -> Void) {
            var settings = SpeechEdges.Settings()
            change(&settings)
            add(settings)
        }
        add(SpeechEdges.Settings())
        for smoothing in [25, 31, 35, 45, 51] { vary { $0.smoothing = smoothing } }
        for floor in [0.02, 0.1, 0.2] { vary { $0.floor = floor } }
        for margin in [1, 1.5, 2, 2.5] as [Float] { vary { $0.margin = margin } }
        for excess in [0.05, 0.15, 0.2] as [Float] { vary { $0.minimumExcess = excess } }
        for gap in [10, 15, 25, 30] { vary { $0.maximumGap = gap } }
        for range in [15, 20, 22, 30, 100] as [Float] { vary { $0.range = range } }
        print("edges, on `fit`:\n\n\(table.markdown)")
        fflush(nil)
    }

    /// Varies the hop between windows, and measures errors and CPU time on `fit`.
    func measureHops() throws {
        var table = Table(
            "hop between windows, s", "DER, %", "2 people", "hard", "correct number", "CPU s / s")
        for hop in [50, 60, 75, 100] {
            var settings = Diarization.Settings()
            settings.hop = hop
            let cases = try cases(of: "fit", settings)
            let errors = cases.map { Self.errors($0.conversation, speakers(of: $0, settings)) }
            func percent(_ isIncluded: (Case) -> Bool) -> String {
                let indices = cases.indices.filter { isIncluded(cases[$0]) }
                return formatted(indices.reduce(DiarizationErrors()) { $0 + errors[$1] }.percent, 2)
            }
            let correct = cases.count { speakers(of: $0, settings).count == $0.people }
            let seconds = cases.reduce(0) { $0 + Double($1.conversation.samples.count) / Double(SamplePosition.rate) }
            table.add([
                formatted(Double(hop) / 100, 2), percent { _ in true }, percent { $0.people == 2 },
                percent { $0.condition == .hard },
                "\(correct) of \(cases.count)", formatted(cases.reduce(0) { $0 + $1.cpuSeconds } / seconds, 4),
            ])
        }
        print("hops, on `fit`:\n\n\(table.markdown)")
        fflush(nil)
    }

    /// Measures errors for combinations of rectification, stop and merge, and for values of the other settings, which
    /// are varied one at a time.
    func measureSettings(_ cases: [Case]) {
        var table = Table(
            "rectified", "stop", "merge", "minimum, s", "change", "DER, %",
            "correct number, of \(cases.count)")
        func add(_ settings: Diarization.Settings) {
            var sum = DiarizationErrors()
            var correct = 0
            for testCase in cases {
                let speakers = self.speakers(of: testCase, settings)
                sum = sum + Self.errors(testCase.conversation, speakers)
                correct += speakers.count == testCase.people ? 1 : 0
            }
            table.add([
                settings.isRectified ? "yes" : "no", formatted(Double(settings.stop), 3),
                formatted(Double(settings.merge), 3),
                formatted(settings.minimumClusterSeconds, 1), formatted(Double(settings.change), 2),
                formatted(sum.percent, 2),
                "\(correct)",
            ])
            fflush(nil)
        }
        func vary(_ change: (inout Diarization.Settings) -> Void) {
            var settings = Diarization.Settings()
            change(&settings)
            add(settings)
        }
        for (rectified, stops, merges) in [
            (true, [0.45, 0.5, 0.55] as [Float], [0.7, 0.75, 0.8] as [Float]),
            (false, [0.25, 0.3, 0.35, 0.4, 0.45], [0.5, 0.55, 0.6, 0.65, 0.7]),
        ] {
            for stop in stops {
                for merge in merges {
                    vary { ($0.isRectified, $0.stop, $0.merge) = (rectified, stop, merge) }
                }
            }
        }
        for change in [0.1, 0.2, 0.3, 0.5, 0.8] as [Float] { vary { $0.change = change } }
        for minimum in [2.0, 3, 4, 6] { vary { $0.minimumClusterSeconds = minimum } }
        print("settings, on `fit`:\n\n\(table.markdown)")
    }
}
