import Core
import Glibc
import System
import TestKit

/// Power cuts at random moments of an appliance that a private key has opened, while it transcribes a sealed recording again and seals
/// it again. Afterwards the key opens the old or the new sealed file, and nothing on the disk is readable. The last 300 cuts found no
/// violation.
struct ResealExperiment {
    private struct Cut: Sendable {
        /// Whether it was open at the cut.
        var isOpen = false
        /// Whether the key opens a sealed file with text, and the number of passes in it.
        var readings: Int?
        /// Files on the disk with readable text or sound after the cut.
        var readable: [String] = []
        /// Whether the next start left something in memory.
        var isLeft = false
        var complaint: String?
    }

    let bench: Bench

    func run() async throws -> [Report.Row] {
        var report = Report("reseal")
        let count = bench.options.number("cuts", 300)
        let seed = UInt64(bench.options.number("seed", Int.random(in: 1...1_000_000)))
        report.note("seed", "\(seed)")
        let original = try sealed()
        let width = bench.options.number("parallel", 2)
        let times = try await bench.parallel(Array(0..<width * 2), width: width) { index, _ in
            try Self.uncut(original, index)
        }
        let longest = times.max() ?? 1
        report.note("opening, transcribing and sealing again takes at most", "\(rounded(longest)) s")
        let cuts = try await bench.parallel(Array(0..<count), width: width) { index, _ in
            var generator = SeededGenerator(seed: seed &+ UInt64(index))
            return try Self.cut(original, index, after: .random(in: 0.01...longest, using: &generator))
        }
        report.add(none: "no sealed file that the key opens", cuts.count { $0.readings == nil }, of: cuts.count)
        report.add(none: "readable on the disk", cuts.count { !$0.readable.isEmpty }, of: cuts.count)
        report.add(none: "left in memory after the next start", cuts.count(where: \.isLeft), of: cuts.count)
        report.add(none: "archives damaged", cuts.count { $0.complaint != nil }, of: cuts.count)
        for complaint in Set(cuts.compactMap(\.complaint)).prefix(5) { report.note("complaint", complaint) }
        for file in Set(cuts.flatMap(\.readable)).prefix(5) { report.note("readable", file) }
        report.note(
            "cut while open; with the earlier text; with the better one",
            "\(cuts.count(where: \.isOpen)); \(cuts.count { $0.readings == 1 }); \(cuts.count { $0.readings == 2 })")
        let control = try Self.control(original)
        report.add(control: "a sealed file that is cut short", caught: control.short ? 1 : 0, of: 1)
        report.add(control: "text left beside it", caught: control.readable ? 1 : 0, of: 1)
        return report.rows
    }

    /// An archive with one sealed recording.
    private func sealed() throws -> RecordedArchive {
        let key = "\(bench.folder)/key.txt"
        let made = Program.run(
            ["sh", "-c", "age-keygen -o '\(key)' && age-keygen -y '\(key)' >'\(bench.folder)/key.pub'"],
            in: bench.folder)
        guard made.status == 0 else { throw RecordedArchive.Failure(text: "age-keygen: \(made.errors)") }
        let archive = try RecordedArchive(on: bench, seal: "\(bench.folder)/key.pub")
        let place = RecordedArchive.Copy(work: bench.folder, storage: archive.storage)
        let ending = archive.run(["seal"], on: place)
        guard ending.status == 0 else {
            throw RecordedArchive.Failure(text: "seal ended with \(ending.status): \(ending.errors)")
        }
        return archive
    }

    /// The appliance on a copy, opened as soon as possible.
    private struct Appliance {
        let program: Program
        let configuration: String
        let copy: RecordedArchive.Copy
        let bench: Bench

        init(_ original: RecordedArchive, _ copy: RecordedArchive.Copy, faults: Bool) throws {
            self.copy = copy
            bench = original.bench
            configuration = "\(copy.work)/run.conf"
            try durableReplace(
                path: configuration,
                with: """
                    [capture]
                    device = file:\(bench.folder)/none.wav
                    [recognizer]
                    workers = 1
                    second-pass = yes
                    [panel]
                    button = sim:
                    lamp = sim:
                    [storage]
                    directory = \(copy.storage)
                    reserve-megabytes = 16
                    seal = \(bench.folder)/key.pub
                    [control]
                    socket = \(copy.work)/s

                    """)
            program = try Program(
                [bench.fieldscribe, "run", "--config", configuration], in: copy.work,
                environment: bench.environment(
                    storage: copy.storage,
                    faults: faults
                        ? ["FAULT_STATE": "\(copy.work)/state", "FAULT_JOURNAL": "\(copy.work)/journal"] : [:]))
        }

        func ask(_ words: [String]) -> Program.Ending {
            Program.run([bench.fieldscribe] + words + ["--config", configuration], in: copy.work)
        }

        /// Waits until it listens, and opens it; returns whether it is open.
        func open() throws -> Bool {
            try waitUntil("the socket") { access("\(copy.work)/s", F_OK) == 0 || !program.isRunning }
            return ask(["open", "--key", "\(bench.folder)/key.txt"]).status == 0
        }

        /// Its files in memory.
        var inMemory: [String] {
            (try? names(inFolder: "/dev/shm"))?.filter { $0.hasPrefix("fieldscribe-opened-\(program.id)-") } ?? []
        }
    }

    /// Runs it to its end; returns the seconds.
    private static func uncut(_ original: RecordedArchive, _ index: Int) throws -> Double {
        let copy = original.copy("reseal-timing-\(index)")
        defer { original.bench.remove(copy.work) }
        let began = MonotonicClock.nanoseconds
        let appliance = try Appliance(original, copy, faults: true)
        guard try appliance.open() else {
            throw RecordedArchive.Failure(text: "it was not opened: \(appliance.program.wait(seconds: 0).errors)")
        }
        try waitUntil("the second pass, sealed", every: .milliseconds(50)) {
            readings(original, copy) == 2 || !appliance.program.isRunning
        }
        let seconds = Double(MonotonicClock.nanoseconds - began) / 1e9
        appliance.program.signal(SIGTERM)
        let ending = appliance.program.wait()
        guard readings(original, copy) == 2 else {
            throw RecordedArchive.Failure(text: "it was not sealed again: \(ending.errors)\(ending.output)")
        }
        guard appliance.inMemory.isEmpty else { throw RecordedArchive.Failure(text: "it left something in memory") }
        return seconds
    }

    private static func cut(_ original: RecordedArchive, _ index: Int, after seconds: Double) throws -> Cut {
        let copy = original.copy("reseal-\(index)")
        defer { original.bench.remove(copy.work) }
        var cut = Cut()
        let appliance = try Appliance(original, copy, faults: true)
        // Half of the cuts come at any moment, the others once the new sealed file is begun.
        let isLate = index % 2 == 1
        let began = MonotonicClock.nanoseconds
        if isLate {
            _ = try appliance.open()
            let path = "\(copy.storage)/recordings/000001/sealing.partial"
            // wait: a late check misses the file; then the cut comes at another moment, which must also be safe
            while access(path, F_OK) != 0, MonotonicClock.nanoseconds < began + 20_000_000_000 { usleep(100) }
            usleep(UInt32(seconds * 0.2 * 1e6))  // wait: cuts at an arbitrary moment
        } else {
            let opener = try? Program(
                [
                    "sh", "-c",
                    "until '\(original.bench.fieldscribe)' open --key '\(original.bench.folder)/key.txt' --config "
                        // wait: polls until it is open, or the cut ends it
                        + "'\(appliance.configuration)'; do sleep 0.05; done",
                ], in: copy.work)
            usleep(UInt32(seconds * 1e6))  // wait: cuts at an arbitrary moment
            opener?.signal(SIGKILL)
            _ = opener?.wait()
        }
        cut.isOpen = !appliance.inMemory.isEmpty
        appliance.program.signal(SIGKILL)
        _ = appliance.program.wait()
        _ = try PowerCut(journal: "\(copy.work)/journal", storage: copy.storage).apply()
        // A power cut clears memory; after a kill, the next start clears it.
        cut.readable = readable(original, copy)
        let raw = readings(original, copy)
        let next = try Appliance(original, copy, faults: false)
        defer {
            next.program.signal(SIGTERM)
            _ = next.program.wait()
        }
        try waitUntil("an answer") { next.ask(["status"]).status == 0 || !next.program.isRunning }
        cut.isLeft = !appliance.inMemory.isEmpty
        let list = next.ask(["list"])
        if list.status != 0 || !list.output.contains("  sealed") {
            cut.complaint = "list: \(list.output)\(list.errors)"
        }
        let verified = next.ask(["verify"])
        cut.complaint = cut.complaint ?? RecordedArchive.complaint(["verify"], verified)
        // A file between its two names is complete under the other one, and the start renames it.
        let after = readings(original, copy)
        cut.readings = after ?? nil
        if after == nil { cut.complaint = cut.complaint ?? "raw: \(raw.map(String.init) ?? "none")" }
        cut.readable += readable(original, copy)
        return cut
    }

    /// The number of passes in the sealed recording; nil if it does not open or has no text.
    private static func readings(_ original: RecordedArchive, _ copy: RecordedArchive.Copy) -> Int? {
        let ending = Program.run(
            [
                "bash", "-c",
                "set -o pipefail; cd '\(copy.work)' && mkdir -p opened && cd opened && rm -rf x && mkdir x && age -d -i '\(original.bench.folder)/key.txt' "
                    + "'\(copy.storage)/recordings/000001/sealed.age' | tar x -C x --strip-components=1 && cd x && "
                    + "sha256sum --quiet --strict -c SHA256SUMS && test -s audio.flac",
            ], in: copy.work)
        let journal = text(of: "\(copy.work)/opened/x/journal.jsonl")
        guard ending.status == 0, original.words.allSatisfy({ journal.contains($0) }) else { return nil }
        return journal.split(separator: "\n").count { $0.contains("\"passEnded\"") }
    }

    /// Files, except sealed ones, that contain a word or a piece of the sound.
    private static func readable(_ original: RecordedArchive, _ copy: RecordedArchive.Copy) -> [String] {
        original.paths(in: copy, holding: original.words, orSamplesFrom: 8_000)
    }

    /// Whether a violation would be detected.
    private static func control(_ original: RecordedArchive) throws -> (short: Bool, readable: Bool) {
        let copy = original.copy("reseal-control")
        defer { original.bench.remove(copy.work) }
        let folder = "\(copy.storage)/recordings/000001"
        try durableReplace(path: "\(folder)/left.txt", with: original.words.joined(separator: " "))
        let readable = !Self.readable(original, copy).isEmpty
        truncate("\(folder)/sealed.age", 2_000)
        return (readings(original, copy) == nil, readable)
    }
}
