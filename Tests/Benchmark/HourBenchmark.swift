import Core
import PocketSphinxRecognizer
import TestKit

/// An hour of field recording, made from the open set: two workers against the stock program, and the seams.
struct HourBenchmark {
    let workshop: Workshop

    func run(withPeer: Bool) throws {
        let (wave, times) = try makeHour()
        let reference = try lines(times).dropFirst().map { $0.split(separator: "\t")[2] }.joined(separator: " ")
        let (transcripts, ours) = try workshop.transcribe(
            [wave], profile: "live", jobs: 2, into: "hour", samplingMemory: true)
        guard let transcript = transcripts["field1h"] else { return }
        let rate = WordErrorRate(reference: reference, hypothesis: transcript.text).percent
        var seams = try SeamReport(profile: .live)
        try seams.add(transcript, wave: wave)
        if withPeer {
            let peer = try workshop.peer(wave)
            var table = Table("the field hour", "fieldscribe", "peer", "ratio")
            table.compare("transcribe --jobs 2: wall s", ours.wallSeconds, peer.cost.wallSeconds)
            table.compare("CPU s", ours.cpuSeconds, peer.cost.cpuSeconds)
            table.compare(
                "word errors, %", rate, WordErrorRate(reference: reference, hypothesis: peer.text).percent)
            print(table.markdown)
        } else {
            print("\(shown(rate, 1)) % word errors, \(shown(ours.cpuSeconds, 1)) CPU s")
        }
        print(seams.text)
    }

    /// The open set without its pauses, in as many orders: in speech that goes on and on there are seams enough to count.
    func unpaused(_ corpus: Corpus, profile: DecoderProfile, orders: Int) throws -> SeamReport {
        var seams = try SeamReport(profile: profile)
        for step in 1...orders {
            let name = "unpaused-\(step)"
            let wave = "\(workshop.folder)/\(name).wav"
            let items = (0..<step).flatMap { first in
                stride(from: first, to: corpus.items.count, by: step).map { corpus.items[$0] }
            }
            try sox(
                ["-D"] + items.map(\.path) + [wave] + ["silence", "1", "0.1", "-40d", "-1", "0.15", "-40d"])
            let transcripts = try workshop.transcribe([wave], profile: profile.name, jobs: 2, into: name).transcripts
            guard let transcript = transcripts[name] else { continue }
            try seams.add(transcript, wave: wave)
        }
        return seams
    }

    /// The hour, and what was said in it when.
    func makeHour() throws -> (wave: String, times: String) {
        let (wave, times) = ("\(workshop.folder)/field1h.wav", "\(workshop.folder)/field1h.tsv")
        let made = try MeasuredProcess([
            "python3", "\(Corpus.folder)/field1h/make_field1h.py", "--out", wave, "--tsv", times,
        ])
        guard made.status == 0 else { throw DeviceError(.failed, "benchmark", "make_field1h.py failed") }
        return (wave, times)
    }

    /// What a second worker costs in memory, on the same files.
    func memory(_ corpus: Corpus) throws {
        let paths = corpus.items.filter { $0.group == "lj" }.map(\.path)
        var table = Table("workers", "peak MB together", "by one worker's")
        var one = 0.0
        for jobs in [1, 2] {
            let cost = try workshop.transcribe(
                paths, profile: "live", jobs: jobs, into: "memory", samplingMemory: true
            ).cost
            if jobs == 1 { one = cost.peakTogetherMegabytes }
            table.add(["\(jobs)", shown(cost.peakTogetherMegabytes, 0), shown(cost.peakTogetherMegabytes / one, 2)])
        }
        print(table.markdown)
    }
}
