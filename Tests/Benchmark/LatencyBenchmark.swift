import Core
import Glibc
import Settings
import System

/// The delay from the end of speech to its committed text, while recording in real time.
///
/// The clock starts with the event that reports the start of the recording, slightly before the first sample, so delays
/// are slightly too long.
struct LatencyBenchmark {
    /// Seconds, including the hangover.
    struct Latency: Codable {
        var utterances: Int
        var median: Double
        var nineOfTen: Double
        var longest: Double
    }

    /// Profiles that transcribe while recording.
    static let profiles = ["live", "fast"]

    let workshop: Workshop

    func run(_ path: String) throws {
        var table = Table("end of speech to committed text, s", "utterances", "median", "nine of ten", "longest")
        for profile in Self.profiles {
            let latency = try measure(path, profile: profile)
            table.add([
                "\(profile), including a hangover of 0.3 s", "\(latency.utterances)", shown(latency.median, 2),
                shown(latency.nineOfTen, 2), shown(latency.longest, 2),
            ])
        }
        print(table.markdown)
    }

    /// Plays a file as a microphone, to its end, and measures the delays.
    func measure(_ path: String, profile: String) throws -> Latency {
        let storage = "\(workshop.folder)/latency-\(getpid())"
        defer { _ = try? MeasuredProcess(["rm", "-r", storage]) }
        try makeFolder(storage)
        if profile == "fast" { try seemSlow(storage) }
        let events = try workshop.recordedEvents(of: path, in: storage, options: ["--engine", "pocketsphinx"])
        var delays: [Double] = []
        for event in events where event.line.event == "final" && event.line.endedBy == .silence {
            if let end = event.line.end { delays.append(event.time - end) }
        }
        guard !delays.isEmpty else {
            throw DeviceError(.failed, "benchmark", "\(path): no utterance ended with silence")
        }
        delays.sort()
        return Latency(
            utterances: delays.count, median: delays[delays.count / 2], nineOfTen: delays[delays.count * 9 / 10],
            longest: delays[delays.count - 1])
    }

    /// Writes the statistics of a recording that show that the board is too slow for `live`.
    private func seemSlow(_ storage: String) throws {
        var configuration = Configuration()
        configuration.storage.directory = storage
        configuration.recognizer.engine = "pocketsphinx"
        var statistics = Statistics()
        (statistics.speechSeconds, statistics.cpuSeconds) = (3_600, 3_600)
        BoardSpeed(configuration).keep(statistics, profile: "live")
        guard configuration.liveProfile == "fast" else {
            throw DeviceError(.failed, "benchmark", "\(storage): a slow board would not be read with fast")
        }
    }
}
