import Copying
import Core
import Glibc
import System

/// Encrypting an hour's tar compared with `age` alone, and a whole encrypted copy compared with a readable one; all synced. An
/// encrypted copy is also encoded, twice, and read back; the other is encoded, read back and decoded.
struct SealingBenchmark {
    private static let rounds = 5
    private static let streamRounds = 10

    let workshop: Workshop
    /// A folder on the simulated stick.
    let target: String

    /// - Parameter onlyStream: whether to measure the encryption alone, more often.
    func run(onlyStream: Bool) throws {
        let folder = "\(workshop.folder)/sealing-\(getpid())"
        try makeFolder(folder)
        defer { _ = try? MeasuredProcess(["rm", "-rf", folder]) }
        let (key, storage) = ("\(folder)/key.txt", "\(folder)/storage")
        try MeasuredProcess.shell("age-keygen -o '\(key)' && age-keygen -y '\(key)' > '\(folder)/key.pub'")
        // Noise makes the longest FLAC.
        for seconds in [3_600, 360] {
            try MeasuredProcess.shell(
                "sox -R -n -r 16000 -b 16 -c 1 '\(folder)/noise.wav' synth \(seconds) pinknoise gain -6")
            try workshop.record("file+fast:\(folder)/noise.wav", seconds: seconds, into: storage)
        }
        if onlyStream { return try stream(folder, storage) }
        var table = Table("an hour, sealed", "s", "MB", "by age's", "peak MB", "of six minutes")
        for form in ["wav", "flac"] {
            try durableReplace(
                path: "\(folder)/export.conf",
                with: "[export]\naudio = \(form)\nrecipients = \(folder)/key.pub\n")
            try durableReplace(path: "\(folder)/plain.conf", with: "[export]\naudio = \(form)\n")
            var ours: [MeasuredProcess] = []
            var alone: [MeasuredProcess] = []
            var plain: [MeasuredProcess] = []
            var small = 0.0
            var sealing: [Double] = []
            for _ in 0..<Self.rounds {
                sync()
                ours.append(try export("1", storage, folder))
                try MeasuredProcess.shell(
                    "age -d -i '\(key)' -o '\(folder)/hour.tar' '\(target)'/Fieldscribe/sealed*/000001.fieldscribe.age")
                try MeasuredProcess.shell("rm -r '\(target)/Fieldscribe'")
                sync()
                alone.append(try age("\(folder)/hour.tar", for: "\(folder)/key.pub"))
                sealing.append(try seal("\(folder)/hour.tar", for: "\(folder)/key.pub"))
                plain.append(try export("1", storage, folder, "plain.conf"))
                try MeasuredProcess.shell("rm -r '\(target)/Fieldscribe'")
                small = try export("2", storage, folder).peakMegabytes
                try MeasuredProcess.shell("rm -r '\(target)/Fieldscribe'")
            }
            let megabytes = Double(try FileDescriptor(opening: "\(folder)/hour.tar", O_RDONLY).size()) / 1e6
            let (wall, age) = (ours.median(\.wallSeconds), alone.median(\.wallSeconds))
            table.add(["\(form): age and sync", shown(age, 2), shown(megabytes, 1), "1.00", "", ""])
            let piped = sealing.sorted()[Self.rounds / 2]
            table.add([
                "\(form): sealed, digested and synced (target 1.15)", shown(piped, 2), shown(megabytes, 1),
                shown(piped / age, 2), "", "",
            ])
            let open = plain.median(\.wallSeconds)
            table.add([
                "\(form): not sealed, encoded, synced, read back", shown(open, 2), shown(megabytes, 1),
                shown(open / age, 2), shown(plain.median(\.peakMegabytes), 1), "",
            ])
            table.add([
                "\(form): encoded twice, sealed, synced, read back", shown(wall, 2), shown(megabytes, 1),
                shown(wall / age, 2), shown(ours.median(\.peakMegabytes), 1), shown(small, 1),
            ])
        }
        print(table.markdown)
        fflush(nil)
    }

    /// Encrypts the same tars with `age` alone and with `Age.sealer`, in turns.
    private func stream(_ folder: String, _ storage: String) throws {
        var table = Table(
            "an hour's tar, sealed", "MB", "age and sync, s", "ours, s", "ours by age's (target 1.15)", "of each round")
        for form in ["wav", "flac"] {
            try durableReplace(
                path: "\(folder)/export.conf", with: "[export]\naudio = \(form)\nrecipients = \(folder)/key.pub\n")
            _ = try export("1", storage, folder)
            let tar = "\(folder)/hour.tar"
            try MeasuredProcess.shell(
                "age -d -i '\(folder)/key.txt' -o '\(tar)' '\(target)'/Fieldscribe/sealed*/000001.fieldscribe.age")
            try MeasuredProcess.shell("rm -r '\(target)/Fieldscribe'")
            sync()
            var (alone, ours): ([Double], [Double]) = ([], [])
            for _ in 0..<Self.streamRounds {
                alone.append(try age(tar, for: "\(folder)/key.pub").wallSeconds)
                ours.append(try seal(tar, for: "\(folder)/key.pub"))
            }
            let megabytes = Double(try FileDescriptor(opening: tar, O_RDONLY).size()) / 1e6
            let ratios = zip(ours, alone).map { $0 / $1 }
            let (age, piped) = (alone.sorted()[alone.count / 2], ours.sorted()[ours.count / 2])
            table.add([
                form, shown(megabytes, 1), shown(age, 3), shown(piped, 3), shown(piped / age, 2),
                ratios.map { shown($0, 2) }.joined(separator: " "),
            ])
        }
        print(table.markdown)
    }

    /// Encrypts a file with `age` alone, and syncs it.
    private func age(_ path: String, for key: String) throws -> MeasuredProcess {
        let cost = try MeasuredProcess.succeeding([
            "sh", "-c", "age -R '\(key)' -o '\(target)/hour.age' '\(path)' && sync -f '\(target)'",
        ])
        try MeasuredProcess.shell("rm '\(target)/hour.age' && sync -f '\(target)'")
        return cost
    }

    /// Encrypts an existing file in the way copies are encrypted; returns the seconds.
    private func seal(_ path: String, for key: String) throws -> Double {
        let source = try FileDescriptor(opening: path, O_RDONLY)
        let recipients = try RecipientsFile.recipients(in: key)
        let began = MonotonicClock.nanoseconds
        let sink = try Sink(target)
        let sealer = try Age().sealer(for: recipients) { bytes throws(DeviceError) in try sink.take(bytes) }
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 4_096)
        defer { room.deallocate() }
        var place: Int64 = 0
        while case let count = try source.read(into: room, at: place), count > 0 {
            try sealer.write(UnsafeRawBufferPointer(rebasing: room[..<count]))
            place += Int64(count)
        }
        try sealer.finish()
        try sink.file.sync()
        try MeasuredProcess.shell("sync -f '\(target)'")
        let seconds = Double(MonotonicClock.nanoseconds - began) / 1e9
        guard sink.length > place, sink.digest.finish().utf8.count == 64 else {
            throw DeviceError(.failed, "benchmark", "age wrote less than it read")
        }
        try MeasuredProcess.shell("rm '\(target)/sealed.age' && sync -f '\(target)'")
        return seconds
    }

    private final class Sink {
        let file: NewFile
        var digest = Digest()
        var length: Int64 { file.length }

        init(_ folder: String) throws {
            file = try NewFile("sealed.age", in: Folder(opening: folder), shouldStop: { false })
        }

        func take(_ bytes: UnsafeRawBufferPointer) throws(DeviceError) {
            digest.add(bytes)
            try file.write(bytes, at: file.length)
        }
    }

    private func export(
        _ recording: String, _ storage: String, _ folder: String, _ configuration: String = "export.conf"
    ) throws -> MeasuredProcess {
        try MeasuredProcess.succeeding([
            workshop.fieldscribe, "export", recording, "--to", target, "--directory", storage, "--config",
            "\(folder)/\(configuration)",
        ])
    }
}
