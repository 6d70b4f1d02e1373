import Core
import Glibc
import System
import TestKit

/// Simulates power cuts at random times while an appliance opens a sealed recording with the private key, transcribes
/// it again and seals it again. Afterwards, the key must open the old or the new sealed file, and no text or audio on
/// the disk may be readable.
struct ResealExperiment {
    private struct Cut: Sendable {
        /// Whether the recording was open at the time of the cut.
        var isOpen = false
        /// The number of passes in the sealed file; nil if the key does not open the file, or it has no text.
        var passes: Int?
        /// The files on the disk with readable text or audio after the cut.
        var readableFiles: [String] = []
        /// Whether opened files were still in memory after the next start.
        var isInMemory = false
        var problem: String?
    }

    let bench: Bench

    func run() async throws -> [Report.Row] {
        var report = Report("reseal")
        let count = bench.options.integer("cuts", 300)
        let seed = UInt64(bench.options.integer("seed", Int.random(in: 1...1_000_000)))
        report.note("seed", "\(seed)")
        let original = try makeSealedArchive()
        let width = bench.options.integer("parallel", 2)
        let times = try await bench.parallel(Array(0..<width * 2), width: width) { index, _ in
            try Self.measureSeconds(original, index)
        }
        let longest = times.max() ?? 1
        report.note("opening, transcribing and sealing again takes at most", "\(rounded(longest)) s")
        let cuts = try await bench.parallel(Array(0..<count), width: width) { index, _ in
            var generator = SeededGenerator(seed: seed &+ UInt64(index))
            return try Self.cut(original, index, after: .random(in: 0.01...longest, using: &generator))
        }
        report.add(none: "sealed files that the key does not open", cuts.count { $0.passes == nil }, of: cuts.count)
        report.add(none: "readable on the disk", cuts.count { !$0.readableFiles.isEmpty }, of: cuts.count)
        report.add(none: "still in memory after the next start", cuts.count(where: \.isInMemory), of: cuts.count)
        report.add(none: "archives damaged", cuts.count { $0.problem != nil }, of: cuts.count)
        for problem in Set(cuts.compactMap(\.problem)).prefix(5) { report.note("problem", problem) }
        for file in Set(cuts.flatMap(\.readableFiles)).prefix(5) { report.note("readable", file) }
        report.note(
            "cut while open; with the old text; with the new text",
            "\(cuts.count(where: \.isOpen)); \(cuts.count { $0.passes == 1 }); \(cuts.count { $0.passes == 2 })")
        let control = try Self.control(original)
        report.add(control: "a truncated sealed file", caught: control.truncation ? 1 : 0, of: 1)
        report.add(control: "text left beside the sealed file", caught: control.text ? 1 : 0, of: 1)
        return report.rows
    }

    /// Creates an archive with one sealed recording.
    private func makeSealedArchive() throws -> RecordedArchive {
        let key = "\(bench.folder)/key.txt"
        let keygen = Program.run(
            ["sh", "-c", "age-keygen -o '\(key)' && age-keygen -y '\(key)' >'\(bench.folder)/key.pub'"],
            in: bench.folder)
        guard keygen.status == 0 else { throw RecordedArchive.Failure(text: "age-keygen: \(keygen.errors)") }
        let archive = try RecordedArchive(on: bench, seal: "\(bench.folder)/key.pub")
        let originalAsCopy = RecordedArchive.Copy(work: bench.folder, storage: archive.storage)
        let result = archive.run(["seal"], on: originalAsCopy)
        guard result.status == 0 else {
            throw RecordedArchive.Failure(text: "seal exited with status \(result.status): \(result.errors)")
        }
        return archive
    }

    /// An appliance that runs on a copy of the archive.
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

        /// Runs a command that sends a request to the appliance.
        func runCommand(_ arguments: [String]) -> Program.ExitResult {
            Program.run([bench.fieldscribe] + arguments + ["--config", configuration], in: copy.work)
        }

        /// Waits until the appliance listens, then opens its recordings. Returns whether that succeeded.
        func open() throws -> Bool {
            try waitUntil("the socket") { access("\(copy.work)/s", F_OK) == 0 || !program.isRunning }
            return runCommand(["open", "--key", "\(bench.folder)/key.txt"]).status == 0
        }

        /// The names of the appliance's files in memory.
        var filesInMemory: [String] {
            (try? names(inFolder: "/dev/shm"))?.filter { $0.hasPrefix("fieldscribe-opened-\(program.id)-") } ?? []
        }
    }

    /// Opens, transcribes and seals the recording without a cut, and returns the duration in seconds.
    private static func measureSeconds(_ original: RecordedArchive, _ index: Int) throws -> Double {
        let copy = original.copy("reseal-timing-\(index)")
        defer { original.bench.remove(copy.work) }
        let began = MonotonicClock.nanoseconds
        let appliance = try Appliance(original, copy, faults: true)
        guard try appliance.open() else {
            throw RecordedArchive.Failure(text: "opening failed: \(appliance.program.wait(seconds: 0).errors)")
        }
        try waitUntil("the second pass, sealed", every: .milliseconds(50)) {
            passCount(original, copy) == 2 || !appliance.program.isRunning
        }
        let seconds = Double(MonotonicClock.nanoseconds - began) / 1e9
        appliance.program.signal(SIGTERM)
        let result = appliance.program.wait()
        guard passCount(original, copy) == 2 else {
            throw RecordedArchive.Failure(text: "sealing again failed: \(result.errors)\(result.output)")
        }
        guard appliance.filesInMemory.isEmpty else {
            throw RecordedArchive.Failure(text: "opened files are still in memory")
        }
        return seconds
    }

    private static func cut(_ original: RecordedArchive, _ index: Int, after seconds: Double) throws -> Cut {
        let copy = original.copy("reseal-\(index)")
        defer { original.bench.remove(copy.work) }
        var cut = Cut()
        let appliance = try Appliance(original, copy, faults: true)
        // Half of the cuts come at any time, the others while the new sealed file is written or soon after that.
        let isLate = index % 2 == 1
        let began = MonotonicClock.nanoseconds
        if isLate {
            _ = try appliance.open()
            let path = "\(copy.storage)/recordings/000001/sealing.partial"
            // wait: a late check may miss the file; then the cut comes at another time, which must also be safe
            while access(path, F_OK) != 0, MonotonicClock.nanoseconds < began + 20_000_000_000 { usleep(100) }
            usleep(UInt32(seconds * 0.2 * 1e6))  // wait: cuts at an arbitrary time
        } else {
            let opener = try? Program(
                [
                    "sh", "-c",
                    "until '\(original.bench.fieldscribe)' open --key '\(original.bench.folder)/key.txt' --config "
                        // wait: polls until the recording is open or this process is killed
                        + "'\(appliance.configuration)'; do sleep 0.05; done",
                ], in: copy.work)
            usleep(UInt32(seconds * 1e6))  // wait: cuts at an arbitrary time
            opener?.signal(SIGKILL)
            _ = opener?.wait()
        }
        cut.isOpen = !appliance.filesInMemory.isEmpty
        appliance.program.signal(SIGKILL)
        _ = appliance.program.wait()
        _ = try PowerCut(journal: "\(copy.work)/journal", storage: copy.storage).apply()
        // A power cut clears memory; after a kill, the next start clears it.
        cut.readableFiles = readableFiles(original, copy)
        let passesBefore = passCount(original, copy)
        let nextAppliance = try Appliance(original, copy, faults: false)
        defer {
            nextAppliance.program.signal(SIGTERM)
            _ = nextAppliance.program.wait()
        }
        try waitUntil("an answer") {
            nextAppliance.runCommand(["status"]).status == 0 || !nextAppliance.program.isRunning
        }
        cut.isInMemory = !appliance.filesInMemory.isEmpty
        let list = nextAppliance.runCommand(["list"])
        if list.status != 0 || !list.output.contains("  sealed") {
            cut.problem = "list: \(list.output)\(list.errors)"
        }
        let verified = nextAppliance.runCommand(["verify"])
        cut.problem = cut.problem ?? RecordedArchive.problem(["verify"], verified)
        // If the new file still had its temporary name at the time of the cut, the next start renames it.
        let passesAfter = passCount(original, copy)
        cut.passes = passesAfter
        if passesAfter == nil {
            cut.problem = cut.problem ?? "passes before the start: \(passesBefore.map(String.init) ?? "none")"
        }
        cut.readableFiles += readableFiles(original, copy)
        return cut
    }

    /// Returns the number of passes in the sealed recording; nil if the key does not open it, or it has no text.
    private static func passCount(_ original: RecordedArchive, _ copy: RecordedArchive.Copy) -> Int? {
        let result = Program.run(
            [
                "bash", "-c",
                "set -o pipefail; cd '\(copy.work)' && mkdir -p opened && cd opened && rm -rf x && mkdir x && age -d -i '\(original.bench.folder)/key.txt' "
                    + "'\(copy.storage)/recordings/000001/sealed.age' | tar x -C x --strip-components=1 && cd x && "
                    + "sha256sum --quiet --strict -c SHA256SUMS && test -s audio.flac",
            ], in: copy.work)
        let journal = text(of: "\(copy.work)/opened/x/journal.jsonl")
        guard result.status == 0, original.words.allSatisfy({ journal.contains($0) }) else { return nil }
        return journal.split(separator: "\n").count { $0.contains("\"passEnded\"") }
    }

    /// Returns the files that contain a word or audio of the recording in plain form.
    private static func readableFiles(_ original: RecordedArchive, _ copy: RecordedArchive.Copy) -> [String] {
        original.paths(in: copy, containing: original.words, orSamplesFrom: 8_000)
    }

    /// Creates each violation, and returns whether it is detected.
    private static func control(_ original: RecordedArchive) throws -> (truncation: Bool, text: Bool) {
        let copy = original.copy("reseal-control")
        defer { original.bench.remove(copy.work) }
        let folder = "\(copy.storage)/recordings/000001"
        try durableReplace(path: "\(folder)/left.txt", with: original.words.joined(separator: " "))
        let isTextFound = !Self.readableFiles(original, copy).isEmpty
        truncate("\(folder)/sealed.age", 2_000)
        return (passCount(original, copy) == nil, isTextFound)
    }
}
