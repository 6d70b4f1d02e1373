import Core
import Glibc
import System
import TestKit

/// A sealed recorder: an hour sealed on its disk, compared with `age` alone on the same tar; the time from a stop until the
/// recording is sealed; opening a hundred sealed recordings, and how soon a recording begins meanwhile.
struct SealedRecorderBenchmark {
    private struct Row: Decodable {
        var id: Int
        var duration: Double
        var transcribedUpTo: Double
        var sealed: String?
    }

    private static let rounds = 5
    /// Seconds of speech to record, in real time.
    private static let lengths = [20, 120]
    private static let many = 100
    private static let starts = 30

    let workshop: Workshop
    /// A folder on the recorder's disk.
    let target: String
    let speech: String

    private var folder: String { "\(target)/sealed-recorder-\(getpid())" }
    private var key: String { "\(folder)/key.txt" }

    func run() throws {
        let folder = folder
        try makeFolder(folder)
        defer { _ = try? MeasuredProcess(["rm", "-rf", folder]) }
        try MeasuredProcess.shell("age-keygen -o '\(key)' && age-keygen -y '\(key)' > '\(folder)/key.pub'")
        try sealing()
        try stopping()
        try opening()
    }

    /// An hour and six minutes, each in an archive that is sealed repeatedly.
    private func sealing() throws {
        var table = Table("an hour, on the recorder", "s", "MB", "by age's", "peak MB", "of six minutes")
        for seconds in [3_600, 360] {
            // Noise makes the longest FLAC. Steady noise is not speech, so it is transcribed quickly.
            let (noise, storage) = ("\(folder)/noise.wav", "\(folder)/of-\(seconds)")
            try MeasuredProcess.shell("sox -R -n -r 16000 -b 16 -c 1 '\(noise)' synth \(seconds) pinknoise gain -6")
            try workshop.record("file+fast:\(noise)", seconds: seconds, into: storage)
            try MeasuredProcess.succeeding([workshop.fieldscribe, "recover", "--directory", storage])
            try MeasuredProcess.shell("rm '\(noise)'")
        }
        for form in ["wav", "flac"] {
            let configuration = try self.configuration(form, storage: "\(folder)/none", audio: form)
            var ours: [MeasuredProcess] = []
            var alone: [MeasuredProcess] = []
            var small: [MeasuredProcess] = []
            for _ in 0..<Self.rounds {
                ours.append(try seal("of-3600", configuration))
                try MeasuredProcess.shell(
                    "age -d -i '\(key)' -o '\(folder)/hour.tar' '\(folder)/copy/recordings/000001/sealed.age'")
                try MeasuredProcess.shell("rm -r '\(folder)/copy' && sync")
                alone.append(
                    try MeasuredProcess.succeeding([
                        "sh", "-c",
                        "age -R '\(folder)/key.pub' -o '\(folder)/hour.age' '\(folder)/hour.tar' && sync -f '\(folder)'",
                    ]))
                try MeasuredProcess.shell("rm '\(folder)/hour.age'")
                small.append(try seal("of-360", configuration))
                try MeasuredProcess.shell("rm -r '\(folder)/copy'")
            }
            let megabytes = Double(try FileDescriptor(opening: "\(folder)/hour.tar", O_RDONLY).size()) / 1e6
            let (wall, age) = (ours.median(\.wallSeconds), alone.median(\.wallSeconds))
            table.add(["\(form): age and sync", shown(age, 2), shown(megabytes, 1), "1.00", "", ""])
            table.add([
                "\(form): fieldscribe seal", shown(wall, 2), shown(megabytes, 1), shown(wall / age, 2),
                shown(ours.median(\.peakMegabytes), 1), shown(small.median(\.peakMegabytes), 1),
            ])
        }
        print(table.markdown)
        fflush(nil)
    }

    /// Seals a copy of an archive, in the folder `copy`.
    private func seal(_ name: String, _ configuration: String) throws -> MeasuredProcess {
        try MeasuredProcess.shell("cp -a '\(folder)/\(name)' '\(folder)/copy' && sync")
        let cost = try MeasuredProcess.succeeding([
            workshop.fieldscribe, "seal", "--directory", "\(folder)/copy", "--config", configuration,
        ])
        guard access("\(folder)/copy/recordings/000001/sealed.age", F_OK) == 0 else {
            throw DeviceError(.failed, "benchmark", "nothing was sealed; run fieldscribe seal by hand")
        }
        return cost
    }

    /// Records speech in real time, stops, and waits until it is transcribed and sealed.
    private func stopping() throws {
        var table = Table(
            "from a stop, s", "until it is transcribed", "until it is sealed", "longest: transcribed", "sealed")
        for seconds in Self.lengths {
            var times: [(written: Double, sealed: Double)] = []
            let sound = "\(folder)/speech.wav"
            try MeasuredProcess.shell("sox -R '\(speech)' '\(sound)' repeat \(seconds)")
            let configuration = try self.configuration(
                "stop", storage: "\(folder)/stop-\(seconds)", microphone: "file:\(sound)")
            let appliance = try Appliance(workshop, configuration)
            for round in 1...(seconds > 60 ? 1 : Self.rounds) {
                try appliance.ask("start")
                sleep(UInt32(seconds))
                try appliance.ask("stop")
                let stopped = MonotonicClock.seconds
                var written: Double?
                while true {
                    usleep(20_000)
                    guard let row = try appliance.rows().first(where: { $0.id == round }) else { continue }
                    if row.transcribedUpTo >= row.duration { written = written ?? MonotonicClock.seconds - stopped }
                    if row.sealed != nil { break }
                }
                let sealed = MonotonicClock.seconds - stopped
                times.append((written ?? sealed, sealed))
            }
            let (written, sealed) = (times.map(\.written).sorted(), times.map(\.sealed).sorted())
            table.add([
                "\(seconds) s of speech", shown(written[written.count / 2], 2), shown(sealed[sealed.count / 2], 2),
                shown(written[written.count - 1], 2), shown(sealed[sealed.count - 1], 2),
            ])
            try appliance.end()
        }
        print(table.markdown)
        fflush(nil)
    }

    /// Opens a hundred recordings with one key, and locks them.
    private func opening() throws {
        let storage = "\(folder)/many"
        for _ in 0..<Self.many { try workshop.record("file+fast:\(speech)", into: storage) }
        try MeasuredProcess.succeeding([workshop.fieldscribe, "recover", "--directory", storage])
        let configuration = try self.configuration("many", storage: storage, microphone: "file:\(speech)")
        try MeasuredProcess.succeeding([workshop.fieldscribe, "seal", "--config", configuration])
        let appliance = try Appliance(workshop, configuration)
        guard try appliance.rows().count(where: { $0.sealed != nil }) == Self.many else {
            throw DeviceError(.failed, "benchmark", "not all are sealed; run fieldscribe seal by hand")
        }
        var table = Table(
            "\(Self.many) sealed recordings", "s", "resident MB before", "with them open", "files in memory, MB")
        let before = appliance.resident
        let began = MonotonicClock.seconds
        try MeasuredProcess.succeeding([workshop.fieldscribe, "open", "--key", key, "--config", configuration])
        let seconds = MonotonicClock.seconds - began
        table.add([
            "opened", shown(seconds, 2), shown(before, 1), shown(appliance.resident, 1),
            shown(appliance.openedMegabytes, 1),
        ])
        let locked = MonotonicClock.seconds
        try MeasuredProcess.succeeding([workshop.fieldscribe, "lock", "--config", configuration])
        table.add([
            "locked", shown(MonotonicClock.seconds - locked, 2), "", shown(appliance.resident, 1),
            shown(appliance.openedMegabytes, 1),
        ])
        print(table.markdown)
        fflush(nil)
        try starts(of: appliance, configuration)
        try appliance.end()
    }

    /// Measures how soon a recording begins while the sealed ones are opened repeatedly.
    private func starts(of appliance: Appliance, _ configuration: String) throws {
        var table = Table(
            "a start (target \(shown(StartDelay.target, 0)) ms to its first sample)", "to the first sample: median, ms",
            "longest", "to the answer: median, ms", "longest")
        table.add(
            ["nothing is opened"] + StartDelay.columns(try StartDelay.measured(Self.starts, by: socket, pause: 0.2)))
        let program = workshop.fieldscribe
        let opener = try ChildProcess(
            "/bin/sh",
            arguments: [
                "-c",
                "while '\(program)' open --key '\(key)' --config '\(configuration)' >>'\(folder)/openings' 2>&1; do "
                    + "'\(program)' lock --config '\(configuration)' >/dev/null; done",
            ])
        sleep(1)
        let delays = try StartDelay.measured(Self.starts, by: socket, pause: 0.2)
        table.add(["\(Self.many) are being opened"] + StartDelay.columns(delays))
        withExtendedLifetime(opener.id) {}
        let openings = try content(ofFile: "\(folder)/openings").count { $0 == UInt8(ascii: "\n") }
        guard openings > 1 else { throw DeviceError(.failed, "benchmark", "nothing was opened meanwhile") }
        print(table.markdown + "\nopened \(openings) times meanwhile\n")
    }

    private var socket: String { "\(workshop.folder)/seal-\(getpid()).sock" }

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

    /// Runs the appliance with a configuration until `end()`.
    private final class Appliance {
        private let process: ChildProcess
        private let workshop: Workshop
        private let configuration: String

        init(_ workshop: Workshop, _ configuration: String) throws {
            self.workshop = workshop
            self.configuration = configuration
            process = try ChildProcess(
                "/bin/sh",
                arguments: ["-c", "exec '\(workshop.fieldscribe)' run --config '\(configuration)' 2>/dev/null"])
            for _ in 0..<1_000 {
                if (try? ask("status")) != nil { return }
                usleep(10_000)
            }
            throw DeviceError(.failed, "benchmark", "the appliance does not answer; run fieldscribe run by hand")
        }

        /// The resident memory in megabytes.
        var resident: Double { MeasuredProcess.megabytes("VmRSS", in: "/proc/\(process.id)/status") }

        /// The size of opened files in memory, in megabytes.
        var openedMegabytes: Double {
            let output = "\(workshop.folder)/opened.txt"
            let words = ["sh", "-c", "du -cs /dev/shm/fieldscribe-opened-\(process.id)-* 2>/dev/null | tail -n 1"]
            _ = try? MeasuredProcess(words, output: output)
            return (MeasuredProcess.text(output).split(separator: "\t").first.flatMap { Double($0) } ?? 0) / 1_024
        }

        func ask(_ command: String) throws {
            let answer = try MeasuredProcess([workshop.fieldscribe, command, "--config", configuration])
            guard answer.status == 0 else {
                throw DeviceError(.failed, "benchmark", "fieldscribe \(command) failed; run it by hand")
            }
        }

        func rows() throws -> [Row] {
            let output = "\(workshop.folder)/list.json"
            _ = try MeasuredProcess(
                [workshop.fieldscribe, "list", "--json", "--config", configuration], output: output)
            return try decoded([Row].self, from: output)
        }

        func end() throws {
            kill(process.id, SIGTERM)
            _ = try process.exitStatus(timeoutSeconds: 30)
        }
    }
}
