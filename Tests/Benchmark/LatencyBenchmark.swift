import Core
import Glibc
import Settings
import System

/// Measures the delay from the end of speech to its committed text, while recording in real time.
///
/// The measured delays are slightly too long, because time counts from the event that reports the start of the
/// recording. That event comes shortly before the first sample.
struct LatencyBenchmark {
    /// Delays in seconds, including the hangover: the silence that ends an utterance.
    struct Latency: Codable {
        var utterances: Int
        var median: Double
        var nineOfTen: Double
        var longest: Double
    }

    /// The profiles that transcribe while recording.
    static let profiles = ["live", "fast"]

    let harness: Harness

    func run(_ path: String) throws {
        var table = Table("end of speech to committed text, s", "utterances", "median", "90th percentile", "maximum")
        for profile in Self.profiles {
            let latency = try measure(path, profile: profile)
            table.add([
                "\(profile), including a hangover of 0.3 s", "\(latency.utterances)", formatted(latency.median, 2),
                formatted(latency.nineOfTen, 2), formatted(latency.longest, 2),
            ])
        }
        print(table.markdown)
    }

    /// Plays a file as a simulated microphone until it ends, and measures the delays.
    func measure(_ path: String, profile: String) throws -> Latency {
        let storage = "\(harness.folder)/latency-\(getpid())"
        defer { _ = try? MeasuredProcess(["rm", "-r", storage]) }
        try makeFolder(storage)
        if profile == "fast" { try writeSlowBoardStatistics(storage) }
        let events = try harness.recordedEvents(of: path, in: storage, options: ["--engine", "pocketsphinx"])
        var delays: [Double] = []
        for event in events where event.line.event == "final" && event.line.endedBy == .silence {
            if let end = event.line.end { delays.append(event.time - end) }
        }
        guard !delays.isEmpty else {
            throw DeviceError(.failed, "benchmark", "no utterance in \(path) ended with silence")
        }
        delays.sort()
        return Latency(
            utterances: delays.count, median: delays[delays.count / 2], nineOfTen: delays[delays.count * 9 / 10],
            longest: delays[delays.count - 1])
    }

    /// Writes the statistics of a recording on a board that is too slow for `live`.
    private func writeSlowBoardStatistics(_ storage: String) throws {
        var configuration = Configuration()
        configuration.storage.directory = storage
        configuration.recognizer.engine = "pocketsphinx"
        var statistics = Statistics()
        (statistics.speechSeconds, statistics.cpuSeconds) = (3_600, 3_600)
        BoardSpeed(configuration).store(statistics, profile: "live")
        guard configuration.liveProfile == "fast" else {
            throw DeviceError(.failed, "benchmark", "the profile for a slow board is not fast")
        }
    }
}
