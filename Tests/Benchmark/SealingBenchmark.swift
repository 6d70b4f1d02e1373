import Copying
import Core
import Glibc
import System

/// Measures the encryption of an hour's tar, compared with `age` alone, and a complete encrypted copy, compared with a
/// readable copy.
///
/// All files are synced. The encrypted copy includes encoding twice and read-back; the readable copy includes encoding,
/// read-back and decoding.
struct SealingBenchmark {
    private static let rounds = 5
    private static let streamRounds = 10

    let harness: Harness
    /// A folder on the stick.
    let target: String

    /// - Parameter onlyStream: whether to measure only the encryption, in more rounds.
    func run(onlyStream: Bool) throws {
        let folder = "\(harness.folder)/sealing-\(getpid())"
        try makeFolder(folder)
        defer { _ = try? MeasuredProcess(["rm", "-rf", folder]) }
        let (key, storage) = ("\(folder)/key.txt", "\(folder)/storage")
        try MeasuredProcess.shell("age-keygen -o '\(key)' && age-keygen -y '\(key)' > '\(folder)/key.pub'")
        // Noise makes the largest FLAC file.
        for seconds in [3_600, 360] {
            try MeasuredProcess.shell(
                "sox -R -n -r 16000 -b 16 -c 1 '\(folder)/noise.wav' synth \(seconds) pinknoise gain -6")
            try harness.record("file+fast:\(folder)/noise.wav", seconds: seconds, into: storage)
        }
        if onlyStream { return try measureStream(folder, storage) }
        var table = Table("an hour, sealed", "s", "MB", "ratio to age", "peak MB", "peak MB, six minutes")
        for format in ["wav", "flac"] {
            try durableReplace(
                path: "\(folder)/export.conf",
                with: "[export]\naudio = \(format)\nrecipients = \(folder)/key.pub\n")
            try durableReplace(path: "\(folder)/plain.conf", with: "[export]\naudio = \(format)\n")
            var sealRuns: [MeasuredProcess] = []
            var ageRuns: [MeasuredProcess] = []
            var readableRuns: [MeasuredProcess] = []
            var shortPeak = 0.0
            var sealSeconds: [Double] = []
            for _ in 0..<Self.rounds {
                sync()
                sealRuns.append(try export("1", storage, folder))
                try MeasuredProcess.shell(
                    "age -d -i '\(key)' -o '\(folder)/hour.tar' '\(target)'/Fieldscribe/sealed*/000001.fieldscribe.age")
                try MeasuredProcess.shell("rm -r '\(target)/Fieldscribe'")
                sync()
                ageRuns.append(try runAge("\(folder)/hour.tar", for: "\(folder)/key.pub"))
                sealSeconds.append(try seal("\(folder)/hour.tar", for: "\(folder)/key.pub"))
                readableRuns.append(try export("1", storage, folder, "plain.conf"))
                try MeasuredProcess.shell("rm -r '\(target)/Fieldscribe'")
                shortPeak = try export("2", storage, folder).peakMegabytes
                try MeasuredProcess.shell("rm -r '\(target)/Fieldscribe'")
            }
            let megabytes = Double(try FileDescriptor(opening: "\(folder)/hour.tar", O_RDONLY).size()) / 1e6
            let (wall, ageSeconds) = (sealRuns.median(\.wallSeconds), ageRuns.median(\.wallSeconds))
            table.add(["\(format): age and sync", formatted(ageSeconds, 2), formatted(megabytes, 1), "1.00", "", ""])
            let sealMedian = sealSeconds.sorted()[Self.rounds / 2]
            table.add([
                "\(format): sealed, hashed and synced (target 1.15)", formatted(sealMedian, 2), formatted(megabytes, 1),
                formatted(sealMedian / ageSeconds, 2), "", "",
            ])
            let readable = readableRuns.median(\.wallSeconds)
            table.add([
                "\(format): not sealed: encoded, synced, read back", formatted(readable, 2), formatted(megabytes, 1),
                formatted(readable / ageSeconds, 2), formatted(readableRuns.median(\.peakMegabytes), 1), "",
            ])
            table.add([
                "\(format): encoded twice, sealed, synced, read back", formatted(wall, 2), formatted(megabytes, 1),
                formatted(wall / ageSeconds, 2), formatted(sealRuns.median(\.peakMegabytes), 1),
                formatted(shortPeak, 1),
            ])
        }
        print(table.markdown)
        fflush(nil)
    }

    /// Encrypts the same tars with `age` alone and with `Age.encryptor`, alternately.
    private func measureStream(_ folder: String, _ storage: String) throws {
        var table = Table(
            "an hour's tar, sealed", "MB", "age and sync, s", "ours, s", "ratio (target 1.15)", "ratio in each round")
        for format in ["wav", "flac"] {
            try durableReplace(
                path: "\(folder)/export.conf", with: "[export]\naudio = \(format)\nrecipients = \(folder)/key.pub\n")
            _ = try export("1", storage, folder)
            let tar = "\(folder)/hour.tar"
            try MeasuredProcess.shell(
                "age -d -i '\(folder)/key.txt' -o '\(tar)' '\(target)'/Fieldscribe/sealed*/000001.fieldscribe.age")
            try MeasuredProcess.shell("rm -r '\(target)/Fieldscribe'")
            sync()
            var (ageRuns, sealRuns): ([Double], [Double]) = ([], [])
            for _ in 0..<Self.streamRounds {
                ageRuns.append(try runAge(tar, for: "\(folder)/key.pub").wallSeconds)
                sealRuns.append(try seal(tar, for: "\(folder)/key.pub"))
            }
            let megabytes = Double(try FileDescriptor(opening: tar, O_RDONLY).size()) / 1e6
            let ratios = zip(sealRuns, ageRuns).map { $0 / $1 }
            let (ageSeconds, sealMedian) = (ageRuns.sorted()[ageRuns.count / 2], sealRuns.sorted()[sealRuns.count / 2])
            table.add([
                format, formatted(megabytes, 1), formatted(ageSeconds, 3), formatted(sealMedian, 3),
                formatted(sealMedian / ageSeconds, 2),
                ratios.map { formatted($0, 2) }.joined(separator: " "),
            ])
        }
        print(table.markdown)
    }

    /// Encrypts a file with `age` alone, and syncs it.
    private func runAge(_ path: String, for key: String) throws -> MeasuredProcess {
        let cost = try MeasuredProcess.succeeding([
            "sh", "-c", "age -R '\(key)' -o '\(target)/hour.age' '\(path)' && sync -f '\(target)'",
        ])
        try MeasuredProcess.shell("rm '\(target)/hour.age' && sync -f '\(target)'")
        return cost
    }

    /// Encrypts a file in the same way as copies, and syncs it; returns the seconds.
    private func seal(_ path: String, for key: String) throws -> Double {
        let source = try FileDescriptor(opening: path, O_RDONLY)
        let recipients = try RecipientsFile.recipients(in: key)
        let began = MonotonicClock.nanoseconds
        let sink = try Sink(target)
        let encryptor = try Age().encryptor(for: recipients) { bytes throws(DeviceError) in try sink.append(bytes) }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 4_096)
        defer { buffer.deallocate() }
        var offset: Int64 = 0
        while case let count = try source.read(into: buffer, at: offset), count > 0 {
            try encryptor.write(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            offset += Int64(count)
        }
        try encryptor.finish()
        try sink.file.sync()
        try MeasuredProcess.shell("sync -f '\(target)'")
        let seconds = Double(MonotonicClock.nanoseconds - began) / 1e9
        guard sink.length > offset, sink.digest.finish().utf8.count == 64 else {
            throw DeviceError(.failed, "benchmark", "the encrypted file is too short")
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

        func append(_ bytes: UnsafeRawBufferPointer) throws(DeviceError) {
            digest.add(bytes)
            try file.write(bytes, at: file.length)
        }
    }

    private func export(
        _ recording: String, _ storage: String, _ folder: String, _ configuration: String = "export.conf"
    ) throws -> MeasuredProcess {
        try MeasuredProcess.succeeding([
            harness.fieldscribe, "export", recording, "--to", target, "--directory", storage, "--config",
            "\(folder)/\(configuration)",
        ])
    }
}
