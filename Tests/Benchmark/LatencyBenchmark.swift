import Appliance
import Core
import FoundationEssentials
import Glibc
import Platform

/// From the end of speech to its committed text, while recording in real time.
///
/// The clock starts with the event that recording has begun, which comes a little before the first sample: so what is
/// told is a little too long.
struct LatencyBenchmark {
    /// Seconds, the hangover included.
    struct Latency: Codable {
        var utterances: Int
        var median: Double
        var nineOfTen: Double
        var longest: Double
    }

    private struct Line: Decodable {
        var event: String
        var end: Double?
        var endedBy: EndReason?
    }

    /// What reads while a recording is made.
    static let profiles = ["live", "quick"]

    let workshop: Workshop

    func run(_ path: String) throws {
        var table = Table("end of speech to committed text, s", "utterances", "median", "nine of ten", "longest")
        for profile in Self.profiles {
            let latency = try measure(path, profile: profile)
            table.add([
                "\(profile), hangover of 0.3 s included", "\(latency.utterances)", shown(latency.median, 2),
                shown(latency.nineOfTen, 2), shown(latency.longest, 2),
            ])
        }
        print(table.markdown)
    }

    /// Plays a file as a microphone, to its end.
    func measure(_ path: String, profile: String) throws -> Latency {
        let storage = "\(workshop.folder)/latency-\(getpid())"
        defer { _ = try? MeasuredProcess(["rm", "-r", storage]) }
        try makeFolder(storage)
        if profile == "quick" { try seemSlow(storage) }
        let seconds = try SeamReport.samples(path).count / SamplePosition.rate
        let command =
            "'\(workshop.fieldscribe)' record --json --engine pocketsphinx --seconds \(seconds) --microphone 'file:\(path)' "
            + "--directory '\(storage)' 2>/dev/null"
        guard let output = popen(command, "r") else {
            throw DeviceError(.failed, "popen", status: errno, "the recording cannot be started; run it by hand")
        }
        var began = 0.0
        var delays: [Double] = []
        var buffer = [CChar](repeating: 0, count: 1 << 18)
        while fgets(&buffer, Int32(buffer.count), output) != nil {
            let now = Double(MonotonicClock.nanoseconds) / 1e9
            let bytes = buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
            guard let line = try? JSONDecoder().decode(Line.self, from: Data(bytes)) else { continue }
            if line.event == "state", began == 0 { began = now }
            if line.event == "final", line.endedBy == .silence, let end = line.end { delays.append(now - began - end) }
        }
        guard pclose(output) == 0, !delays.isEmpty else {
            throw DeviceError(.failed, "benchmark", "the recording failed; run record --microphone file:PATH by hand")
        }
        delays.sort()
        return Latency(
            utterances: delays.count, median: delays[delays.count / 2], nineOfTen: delays[delays.count * 9 / 10],
            longest: delays[delays.count - 1])
    }

    /// As if an earlier recording had shown that the board is too slow for `live`.
    private func seemSlow(_ storage: String) throws {
        var configuration = Configuration()
        configuration.storage.directory = storage
        configuration.recognizer.engine = "pocketsphinx"
        var statistics = Statistics()
        (statistics.speechSeconds, statistics.cpuSeconds) = (3_600, 3_600)
        BoardSpeed(configuration).keep(statistics, profile: "live")
        guard configuration.liveProfile == "quick" else {
            throw DeviceError(.failed, "benchmark", "\(storage): a slow board would not be read with quick")
        }
    }
}
