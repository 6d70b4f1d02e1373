import Core
import Glibc
import System
import TestKit

/// Measures a recorder that seals its recordings: sealing an hour of audio, compared with `age` alone on the same
/// tar; the time from a stop until the recording is sealed; and the time to open a hundred sealed recordings, and how
/// long a start takes meanwhile.
struct SealedRecorderBenchmark {
    private struct Row: Decodable {
        var id: Int
        var duration: Double
        var transcribedUpTo: Double
        var sealed: String?
    }

    private static let rounds = 5
    /// Seconds of speech to record, in real time.
    private static let durations = [20, 120]
    private static let recordingCount = 100
    private static let startCount = 30

    let harness: Harness
    /// A folder on the recorder's disk.
    let target: String
    let speech: String

    private var folder: String { "\(target)/sealed-recorder-\(getpid())" }
    private var keyFile: String { "\(folder)/key.txt" }

    func run() throws {
        let folder = folder
        try makeFolder(folder)
        defer { _ = try? MeasuredProcess(["rm", "-rf", folder]) }
        try MeasuredProcess.shell("age-keygen -o '\(keyFile)' && age-keygen -y '\(keyFile)' > '\(folder)/key.pub'")
        try measureSealing()
        try measureStopping()
        try measureOpening()
    }

    /// Seals copies of two archives repeatedly: one with an hour of audio, and one with six minutes.
    private func measureSealing() throws {
        var table = Table("an hour, on the recorder", "s", "MB", "ratio to age", "peak MB", "peak MB, six minutes")
        for seconds in [3_600, 360] {
            // Noise makes the largest FLAC file. Steady noise is not speech, so transcribing it is quick.
            let (noise, storage) = ("\(folder)/noise.wav", "\(folder)/archive-\(seconds)")
            try MeasuredProcess.shell("sox -R -n -r 16000 -b 16 -c 1 '\(noise)' synth \(seconds) pinknoise gain -6")
            try harness.record("file+fast:\(noise)", seconds: seconds, into: storage)
            try MeasuredProcess.succeeding([harness.fieldscribe, "recover", "--directory", storage])
            try MeasuredProcess.shell("rm '\(noise)'")
        }
        for format in ["wav", "flac"] {
            let configuration = try self.configuration(format, storage: "\(folder)/none", audio: format)
            var sealRuns: [MeasuredProcess] = []
            var ageRuns: [MeasuredProcess] = []
            var shortRuns: [MeasuredProcess] = []
            for _ in 0..<Self.rounds {
                sealRuns.append(try seal("archive-3600", configuration))
                try MeasuredProcess.shell(
                    "age -d -i '\(keyFile)' -o '\(folder)/hour.tar' '\(folder)/copy/recordings/000001/sealed.age'")
                try MeasuredProcess.shell("rm -r '\(folder)/copy' && sync")
                ageRuns.append(
                    try MeasuredProcess.succeeding([
                        "sh", "-c",
                        "age -R '\(folder)/key.pub' -o '\(folder)/hour.age' '\(folder)/hour.tar' "
                            + "&& sync -f '\(folder)'",
                    ]))
                try MeasuredProcess.shell("rm '\(folder)/hour.age'")
                shortRuns.append(try seal("archive-360", configuration))
                try MeasuredProcess.shell("rm -r '\(folder)/copy'")
            }
            let megabytes = Double(try FileDescriptor(opening: "\(folder)/hour.tar", O_RDONLY).size()) / 1e6
            let (sealSeconds, ageSeconds) = (sealRuns.median(\.wallSeconds), ageRuns.median(\.wallSeconds))
            table.add(["\(format): age and sync", formatted(ageSeconds, 2), formatted(megabytes, 1), "1.00", "", ""])
            table.add([
                "\(format): fieldscribe seal", formatted(sealSeconds, 2), formatted(megabytes, 1),
                formatted(sealSeconds / ageSeconds, 2),
                formatted(sealRuns.median(\.peakMegabytes), 1), formatted(shortRuns.median(\.peakMegabytes), 1),
            ])
        }
        print(table.markdown)
        fflush(nil)
    }

    /// Copies an archive to the folder `copy`, and seals the copy.
    private func seal(_ name: String, _ configuration: String) throws -> MeasuredProcess {
        try MeasuredProcess.shell("cp -a '\(folder)/\(name)' '\(folder)/copy' && sync")
        let cost = try MeasuredProcess.succeeding([
            harness.fieldscribe, "seal", "--directory", "\(folder)/copy", "--config", configuration,
        ])
        guard access("\(folder)/copy/recordings/000001/sealed.age", F_OK) == 0 else {
            throw DeviceError(.failed, "benchmark", "no recording was sealed; run fieldscribe seal by hand")
        }
        return cost
    }

    /// Records speech in real time, stops, and waits until the recording is transcribed and sealed.
    private func measureStopping() throws {
        var table = Table(
            "from a stop, s", "until transcribed: median", "until sealed: median", "until transcribed: maximum",
            "until sealed: maximum")
        for seconds in Self.durations {
            var times: [(transcribed: Double, sealed: Double)] = []
            let audio = "\(folder)/speech.wav"
            try MeasuredProcess.shell("sox -R '\(speech)' '\(audio)' repeat \(seconds)")
            let configuration = try self.configuration(
                "stop", storage: "\(folder)/stop-\(seconds)", microphone: "file:\(audio)")
            let appliance = try Appliance(harness, configuration)
            for round in 1...(seconds > 60 ? 1 : Self.rounds) {
                try appliance.ask("start")
                sleep(UInt32(seconds))
                try appliance.ask("stop")
                let stopTime = MonotonicClock.seconds
                var transcribed: Double?
                while true {
                    usleep(20_000)
                    guard let row = try appliance.rows().first(where: { $0.id == round }) else { continue }
                    if row.transcribedUpTo >= row.duration {
                        transcribed = transcribed ?? MonotonicClock.seconds - stopTime
                    }
                    if row.sealed != nil { break }
                }
                let sealed = MonotonicClock.seconds - stopTime
                times.append((transcribed ?? sealed, sealed))
            }
            let (transcribed, sealed) = (times.map(\.transcribed).sorted(), times.map(\.sealed).sorted())
            table.add([
                "\(seconds) s of speech", formatted(transcribed[transcribed.count / 2], 2),
                formatted(sealed[sealed.count / 2], 2), formatted(transcribed[transcribed.count - 1], 2),
                formatted(sealed[sealed.count - 1], 2),
            ])
            try appliance.stop()
        }
        print(table.markdown)
        fflush(nil)
    }

    /// Opens a hundred recordings with one key, and locks them again.
    private func measureOpening() throws {
        let storage = "\(folder)/many"
        for _ in 0..<Self.recordingCount { try harness.record("file+fast:\(speech)", into: storage) }
        try MeasuredProcess.succeeding([harness.fieldscribe, "recover", "--directory", storage])
        let configuration = try self.configuration("many", storage: storage, microphone: "file:\(speech)")
        try MeasuredProcess.succeeding([harness.fieldscribe, "seal", "--config", configuration])
        let appliance = try Appliance(harness, configuration)
        guard try appliance.rows().count(where: { $0.sealed != nil }) == Self.recordingCount else {
            throw DeviceError(.failed, "benchmark", "some recordings were not sealed; run fieldscribe seal by hand")
        }
        var table = Table(
            "\(Self.recordingCount) sealed recordings", "s", "resident MB before", "resident MB after",
            "files in memory, MB")
        let before = appliance.residentMegabytes
        let began = MonotonicClock.seconds
        try MeasuredProcess.succeeding([harness.fieldscribe, "open", "--key", keyFile, "--config", configuration])
        let seconds = MonotonicClock.seconds - began
        table.add([
            "opened", formatted(seconds, 2), formatted(before, 1), formatted(appliance.residentMegabytes, 1),
            formatted(appliance.openedMegabytes, 1),
        ])
        let lockStart = MonotonicClock.seconds
        try MeasuredProcess.succeeding([harness.fieldscribe, "lock", "--config", configuration])
        table.add([
            "locked", formatted(MonotonicClock.seconds - lockStart, 2), "", formatted(appliance.residentMegabytes, 1),
            formatted(appliance.openedMegabytes, 1),
        ])
        print(table.markdown)
        fflush(nil)
        try measureStarts(of: appliance, configuration)
        try appliance.stop()
    }

    /// Measures the delay of a start while sealed recordings are opened and locked repeatedly.
    private func measureStarts(of appliance: Appliance, _ configuration: String) throws {
        var table = Table(
            "a start (target \(formatted(StartDelay.target, 0)) ms to its first sample)",
            "to the first sample: median, ms",
            "maximum", "to the answer: median, ms", "maximum")
        table.add(
            ["nothing is being opened"]
                + StartDelay.cells(try StartDelay.measure(rounds: Self.startCount, socket: socket, pause: 0.2)))
        let program = harness.fieldscribe
        let opener = try ChildProcess(
            "/bin/sh",
            arguments: [
                "-c",
                "while '\(program)' open --key '\(keyFile)' --config '\(configuration)' >>'\(folder)/openings' 2>&1; "
                    + "do '\(program)' lock --config '\(configuration)' >/dev/null; done",
            ])
        sleep(1)
        let delays = try StartDelay.measure(rounds: Self.startCount, socket: socket, pause: 0.2)
        table.add(["\(Self.recordingCount) are being opened"] + StartDelay.cells(delays))
        withExtendedLifetime(opener.id) {}
        let openings = try content(ofFile: "\(folder)/openings").count { $0 == UInt8(ascii: "\n") }
        guard openings > 1 else { throw DeviceError(.failed, "benchmark", "no recordings were opened meanwhile") }
        print(table.markdown + "\nThe recordings were opened \(openings) times meanwhile.\n")
    }

    private var socket: String { "\(harness.folder)/seal-\(getpid()).sock" }

    private func configuration(
        _ name: String, storage: String, microphone: String = "tone:440", audio: String = "flac"
    ) throws -> String {
        let path = "\(folder)/\(name).conf"
        try durableReplace(
            path: path,
            with: """
                [capture]
                device = \(microphone)
                [recognizer]
                second-pass = no
                [panel]
                button = sim:
                lamp = sim:
                [export]
                audio = \(audio)
                [storage]
                directory = \(storage)
                seal = \(folder)/key.pub
                [control]
                socket = \(socket)

                """)
        return path
    }

    /// A running appliance; call `stop()` to end it.
    private final class Appliance {
        private let process: ChildProcess
        private let harness: Harness
        private let configuration: String

        init(_ harness: Harness, _ configuration: String) throws {
            self.harness = harness
            self.configuration = configuration
            process = try ChildProcess(
                "/bin/sh",
                arguments: ["-c", "exec '\(harness.fieldscribe)' run --config '\(configuration)' 2>/dev/null"])
            for _ in 0..<1_000 {
                if (try? ask("status")) != nil { return }
                usleep(10_000)
            }
            throw DeviceError(.failed, "benchmark", "the appliance did not answer; run fieldscribe run by hand")
        }

        /// The resident memory in megabytes.
        var residentMegabytes: Double { MeasuredProcess.megabytes("VmRSS", in: "/proc/\(process.id)/status") }

        /// The size of the opened recordings' files in memory, in megabytes.
        var openedMegabytes: Double {
            let output = "\(harness.folder)/opened.txt"
            let command = ["sh", "-c", "du -cs /dev/shm/fieldscribe-opened-\(process.id)-* 2>/dev/null | tail -n 1"]
            _ = try? MeasuredProcess(command, output: output)
            return (MeasuredProcess.text(output).split(separator: "\t").first.flatMap { Double($0) } ?? 0) / 1_024
        }

        func ask(_ command: String) throws {
            let answer = try MeasuredProcess([harness.fieldscribe, command, "--config", configuration])
            guard answer.status == 0 else {
                throw DeviceError(.failed, "benchmark", "fieldscribe \(command) failed; run it by hand")
            }
        }

        func rows() throws -> [Row] {
            let output = "\(harness.folder)/list.json"
            _ = try MeasuredProcess(
                [harness.fieldscribe, "list", "--json", "--config", configuration], output: output)
            return try decoded([Row].self, from: output)
        }

        func stop() throws {
            kill(process.id, SIGTERM)
            _ = try process.exitStatus(timeoutSeconds: 30)
        }
    }
}
