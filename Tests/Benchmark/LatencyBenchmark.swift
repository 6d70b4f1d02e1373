import Core
import FoundationEssentials
import Glibc
import Platform

/// From the end of speech to its committed text, while recording in real time.
///
/// The clock starts with the event that recording has begun, which comes a little before the first sample: so what is
/// told is a little too long.
struct LatencyBenchmark {
    private struct Line: Decodable {
        var event: String
        var end: Double?
        var endedBy: EndReason?
    }

    let workshop: Workshop

    /// Plays a file as a microphone.
    func run(_ path: String, seconds: Int) throws {
        let storage = "\(workshop.folder)/latency-\(getpid())"
        let command =
            "'\(workshop.fieldscribe)' record --json --seconds \(seconds) --microphone 'file:\(path)' "
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
        let status = pclose(output)
        _ = try MeasuredProcess(["rm", "-r", storage])
        guard status == 0, !delays.isEmpty else {
            throw DeviceError(.failed, "benchmark", "the recording failed; run record --microphone file:PATH by hand")
        }
        delays.sort()
        var table = Table("end of speech to committed text, s", "utterances", "median", "nine of ten", "longest")
        table.add([
            "hangover 0.3 s included", "\(delays.count)", shown(delays[delays.count / 2], 2),
            shown(delays[delays.count * 9 / 10], 2), shown(delays[delays.count - 1], 2),
        ])
        print(table.markdown)
    }
}
