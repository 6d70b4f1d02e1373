import Core
import Glibc
import System

/// Records hours of audio, unpaced. Measures the growth of memory use and open descriptors, and the number of bytes
/// written per byte of audio.
struct SoakExperiment {
    private struct Sample {
        /// The hours of audio recorded so far.
        var hours: Double
        var residentKilobytes: Double
        var descriptors: Double
    }

    private struct Figures {
        var kilobytesPerDay = 0.0
        var descriptorsPerDay = 0.0
        var samples = 0
        var amplification = 0.0
        var status: Int32 = 0
        var seconds = 0.0
    }

    let bench: Bench

    func run() async throws -> [Report.Row] {
        var report = Report("soak")
        let hours = bench.options.integer("hours", 2)
        let longRun = try soak(hours: hours, isFast: true, faults: nil)
        report.add(
            "\(hours) h of audio in \(rounded(longRun.seconds)) s: status", target: "0", seen: "\(longRun.status)",
            isMet: longRun.status == 0)
        let slope = Self.slopeTarget(hours: hours)
        report.add(
            "resident memory, slope over \(longRun.samples) samples", target: "\(rounded(slope)) kB per day",
            seen: "\(rounded(longRun.kilobytesPerDay)) kB per day",
            isMet: longRun.kilobytesPerDay < slope && longRun.samples > 10)
        report.add(
            "descriptors, slope", target: "0 per day", seen: "\(rounded(longRun.descriptorsPerDay)) per day",
            isMet: abs(longRun.descriptorsPerDay) < 1)
        report.add(
            "bytes written per byte of audio, unpaced", target: "2",
            seen: "\(rounded(longRun.amplification))", isMet: longRun.amplification <= 2 && longRun.amplification > 0)
        // The run is so long that the writes during the start hardly count.
        let seconds = bench.options.integer("real-seconds", 30)
        let pacedRun = try soak(hours: 1, isFast: false, faults: nil, seconds: seconds)
        report.add(
            "bytes written per byte of audio, in real time (\(seconds) s)", target: "2",
            seen: "\(rounded(pacedRun.amplification))",
            isMet: pacedRun.amplification <= 2 && pacedRun.amplification > 0)
        let leakyRun = try soak(hours: min(hours, 2), isFast: true, faults: ["FAULT_LEAK": "1"])
        let leaksMemory = leakyRun.kilobytesPerDay >= Self.slopeTarget(hours: min(hours, 2))
        report.add(control: "a recorder that leaks memory", caught: leaksMemory ? 1 : 0, of: 1)
        report.add(control: "a recorder that leaks descriptors", caught: leakyRun.descriptorsPerDay >= 1 ? 1 : 0, of: 1)
        return report.rows
    }

    /// Returns the maximum slope of memory in kB per day. Code that is first used late in a run may add a step of up to
    /// 100 kB, which looks like a slope if the run is short.
    private static func slopeTarget(hours: Int) -> Double { max(100, 100 * 24 / Double(hours)) }

    private func soak(hours: Int, isFast: Bool, faults: [String: String]?, seconds: Int? = nil) throws -> Figures {
        let work = bench.newFolder("soak")
        defer { bench.remove(work) }
        let storage = bench.newFolder("soak/storage")
        let length = Int64(hours) * 3_600 * Int64(KnownSound.rate) * 2
        try makeSilence("\(work)/long.wav", bytes: length)
        let command = [
            bench.fieldscribe, "record", "--audio-only", "--microphone",
            isFast ? "file+fast:\(work)/long.wav" : "file:\(work)/long.wav", "--directory", storage, "--config",
            "\(bench.folder)/usual.conf",
        ]
        let began = MonotonicClock.nanoseconds
        let program = try Program(
            command, in: work,
            environment: faults.map { bench.environment(storage: storage, faults: $0) } ?? [:])
        var samples: [Sample] = []
        var written = 0.0
        var payload = 0.0
        // Samples the figures until they can no longer be read, because the program has exited.
        while true {
            usleep(20_000)  // wait: the sampling interval; a slow machine samples less often
            // wait: the caller chooses the duration of the run
            if let seconds, MonotonicClock.nanoseconds - began > Int64(seconds) * 1_000_000_000 {
                program.signal(SIGINT)
            }
            let resident = Self.field("VmRSS:", in: text(of: "/proc/\(program.id)/status"))
            let bytes = Self.field("write_bytes:", in: text(of: "/proc/\(program.id)/io"))
            guard let resident, let bytes else { break }
            var status = stat()
            guard stat("\(storage)/recordings/000001/audio.wav", &status) == 0 else { continue }
            (written, payload) = (bytes, Double(status.st_size))
            samples.append(
                Sample(
                    hours: payload / 2 / Double(KnownSound.rate) / 3_600, residentKilobytes: resident,
                    descriptors: Double(Self.entryCount(of: "/proc/\(program.id)/fd"))))
        }
        let result = program.wait()
        // Excludes the start, during which memory use grows normally.
        let steady = samples.filter { $0.hours >= (samples.last?.hours ?? 0) / 10 }.dropLast()
        return Figures(
            kilobytesPerDay: 24 * Self.slope(steady.map { ($0.hours, $0.residentKilobytes) }),
            descriptorsPerDay: 24 * Self.slope(steady.map { ($0.hours, $0.descriptors) }), samples: steady.count,
            amplification: payload > 0 ? written / payload : 0, status: result.status,
            seconds: Double(MonotonicClock.nanoseconds - began) / 1e9)
    }

    /// Writes a sparse WAV file with silence.
    private func makeSilence(_ path: String, bytes: Int64) throws {
        var header = Array("RIFF".utf8) + Self.number(UInt32(clamping: bytes + 36)) + Array("WAVEfmt ".utf8)
        header += Self.number(16) + Self.number(0x0001_0001) + Self.number(UInt32(KnownSound.rate))
        header += Self.number(UInt32(2 * KnownSound.rate)) + Self.number(0x0010_0002)
        header += Array("data".utf8) + Self.number(UInt32(clamping: bytes))
        let file = try FileDescriptor(opening: path, O_WRONLY | O_CREAT)
        try header.withUnsafeBytes { try file.write($0) }
        try file.truncate(to: Int64(header.count) + bytes)
    }

    private static func number(_ value: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    private static func field(_ name: String, in text: String) -> Double? {
        text.split(separator: "\n").first { $0.hasPrefix(name) }
            .flatMap { $0.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first }.flatMap { Double($0) }
    }

    private static func entryCount(of folder: String) -> Int {
        guard let handle = opendir(folder) else { return 0 }
        defer { closedir(handle) }
        var count = 0
        while readdir(handle) != nil { count += 1 }
        return count
    }

    /// Returns the median of the slopes between all pairs of points (Theil–Sen), so that a single step is not taken for
    /// a leak.
    private static func slope(_ points: [(Double, Double)]) -> Double {
        let step = max(1, points.count / 200)
        let sampled = stride(from: 0, to: points.count, by: step).map { points[$0] }
        var slopes: [Double] = []
        for (index, first) in sampled.enumerated() {
            for second in sampled[(index + 1)...] where second.0 > first.0 {
                slopes.append((second.1 - first.1) / (second.0 - first.0))
            }
        }
        return slopes.isEmpty ? 0 : slopes.sorted()[slopes.count / 2]
    }
}
