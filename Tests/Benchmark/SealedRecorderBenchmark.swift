import Core
import Glibc
import System
import TestKit

/// Measures a recorder that seals its recordings: an hour sealed on its disk, compared with `age` alone on the same
/// tar; the time from a stop until the recording is sealed; and opening a hundred sealed recordings, with the delay of
/// a start meanwhile.
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
    private static let openedRecordings = 100
    private static let starts = 30

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

    /// Seals copies of two archives repeatedly, one with an hour of sound and one with six minutes.
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
            var ours: [MeasuredProcess] = []
            var alone: [MeasuredProcess] = []
            var small: [MeasuredProcess] = []
            for _ in 0..<Self.rounds {
                ours.append(try seal("archive-3600", configuration))
                try MeasuredProcess.shell(
                    "age -d -i '\(keyFile)' -o '\(folder)/hour.tar' '\(folder)/copy/recordings/000001/sealed.age'")
                try MeasuredProcess.shell("rm -r '\(folder)/copy' && sync")
                alone.append(
                    try MeasuredProcess.succeeding([
                        "sh", "-c",
                        "age -R '\(folder)/key.pub' -o '\(folder)/hour.age' '\(folder)/hour.tar' "
                            + "&& sync -f '\(folder)'",
                    ]))
                try MeasuredProcess.shell("rm '\(folder)/hour.age'")
                small.append(try seal("archive-360", configuration))
                try MeasuredProcess.shell("rm -r '\(folder)/copy'")
            }
            let megabytes = Double(try FileDescriptor(opening: "\(folder)/hour.tar", O_RDONLY).size()) / 1e6
            let (wall, age) = (ours.median(\.wallSeconds), alone.median(\.wallSeconds))
            table.add(["\(format): age and sync", shown(age, 2), shown(megabytes, 1), "1.00", "", ""])
            table.add([
                "\(format): fieldscribe seal", shown(wall, 2), shown(megabytes, 1), shown(wall / age, 2),
                shown(ours.median(\.peakMegabytes), 1), shown(small.median(\.peakMegabytes), 1),
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

    /// Records speech in real time, stops, and waits until it is transcribed and sealed.
    private func measureStopping() throws {
        var table = Table(
            "from a stop, s", "until transcribed: median", "until sealed: median", "until transcribed: maximum",
            "until sealed: maximum")
        for seconds in Self.durations {
            var times: [(transcribed: Double, sealed: Double)] = []
            let sound = "\(folder)/speech.wav"
            try MeasuredProcess.shell("sox -R '\(speech)' '\(sound)' repeat \(seconds)")
            let configuration = try self.configuration(
                "stop", storage: "\(folder)/stop-\(seconds)", microphone: "file:\(sound)")
            let appliance = try Appliance(harness, configuration)
            for round in 1...(seconds > 60 ? 1 : Self.rounds) {
                try appliance.ask("start")
                sleep(UInt32(seconds))
                try appliance.ask("stop")
                let stopped = MonotonicClock.seconds
                var transcribed: Double?
                while true {
                    usleep(20_000)
                    guard let row = try appliance.rows().first(where: { $0.id == round }) else { continue }
                    if row.transcribedUpTo >= row.duration {
                        transcribed = transcribed ?? MonotonicClock.seconds - stopped
                    }
                    if row.sealed != nil { break }
                }
                let sealed = MonotonicClock.seconds - stopped
                times.append((transcribed ?? sealed, sealed))
            }
            let (transcribed, sealed) = (times.map(\.transcribed).sorted(), times.map(\.sealed).sorted())
            table.add([
                "\(seconds) s of speech", shown(transcribed[transcribed.count / 2], 2),
                shown(sealed[sealed.count / 2], 2), shown(transcribed[transcribed.count - 1], 2),
                shown(sealed[sealed.count - 1], 2),
            ])
            try appliance.stop()
        }
        print(table.markdown)
        fflush(nil)
    }

    /// Opens a hundred recordings with one key, and locks them again.
    private func measureOpening() throws {
        let storage = "\(folder)/many"
        for _ in 0..<Self.openedRecordings { try harness.record("file+fast:\(speech)", into: storage) }
        try MeasuredProcess.succeeding([harness.fieldscribe, "recover", "--directory", storage])
        let configuration = try self.configuration("many", storage: storage, microphone: "file:\(speech)")
        try MeasuredProcess.succeeding([harness.fieldscribe, "seal", "--config", configuration])
        let appliance = try Appliance(harness, configuration)
        guard try appliance.rows().count(where: { $0.sealed != nil }) == Self.openedRecordings else {
            throw DeviceError(.failed, "benchmark", "some recordings were not sealed; run fieldscribe seal by hand")
        }
        var table = Table(
            "\(Self.openedRecordings) sealed recordings", "s", "resident MB before", "resident MB after",
            "files in memory, MB")
        let before = appliance.residentMegabytes
        let began = MonotonicClock.seconds
        try MeasuredProcess.succeeding([harness.fieldscribe, "open", "--key", keyFile, "--config", configuration])
        let seconds = MonotonicClock.seconds - began
        table.add([
            "opened", shown(seconds, 2), shown(before, 1), shown(appliance.residentMegabytes, 1),
            shown(appliance.openedMegabytes, 1),
        ])
        let locked = MonotonicClock.seconds
        try MeasuredProcess.succeeding([harness.fieldscribe, "lock", "--config", configuration])
        table.add([
            "locked", shown(MonotonicClock.seconds - locked, 2), "", shown(appliance.residentMegabytes, 1),
            shown(appliance.openedMegabytes, 1),
        ])
        print(table.markdown)
        fflush(nil)
        try measureStarts(of: appliance, configuration)
        try appliance.stop()
    }

    /// Measures the delay of a start while sealed recordings are opened and locked repeatedly.
    private func measureStarts(of appliance: Appliance, _ configuration: String) throws {
        var table = Table(
            "a start (target \(shown(StartDelay.target, 0)) ms to its first sample)", "to the first sample: median, ms",
            "maximum", "to the answer: median, ms", "maximum")
        table.add(
            ["nothing is being opened"]
                + StartDelay.columns(try StartDelay.measure(rounds: Self.starts, socket: socket, pause: 0.2)))
        let program = harness.fieldscribe
        let opener = try ChildProcess(
            "/bin/sh",
            arguments: [
                "-c",
                "while '\(program)' open --key '\(keyFile)' --config '\(configuration)' >>'\(folder)/openings' 2>&1; "
                    + "do '\(program)' lock --config '\(configuration)' >/dev/null; done",
            ])
        sleep(1)
        let delays = try StartDelay.measure(rounds: Self.starts, socket: socket, pause: 0.2)
        table.add(["\(Self.openedRecordings) are being opened"] + StartDelay.columns(delays))
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

    /// Runs the appliance with a configuration until `stop()`.
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

        /// The size of opened files in memory, in megabytes.
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
