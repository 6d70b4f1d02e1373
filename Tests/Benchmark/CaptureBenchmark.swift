import Core
import Glibc
import System

/// Records an hour from a libasound PCM to the card, unpaced, and compares the cost with `arecord`'s.
struct CaptureBenchmark {
    private static let hour = 3_600

    let harness: Harness

    func run() throws {
        let audio = "\(harness.folder)/hour.raw"
        try writeNoise(to: audio)
        let configuration = "\(harness.folder)/asound.conf"
        try durableReplace(
            path: configuration,
            with: """
                </usr/share/alsa/alsa.conf>
                pcm.benchmark { type file slave.pcm null file /dev/null infile "\(audio)" format raw }

                """)
        let alsa = ["ALSA_CONFIG_PATH": configuration]
        var fieldscribeRuns: [MeasuredProcess] = []
        var arecordRuns: [MeasuredProcess] = []
        var shortRuns: [MeasuredProcess] = []
        for round in 0..<5 {
            let storage = "\(harness.folder)/storage-\(getpid())-\(round)"
            fieldscribeRuns.append(try record(seconds: Self.hour, storage, alsa))
            shortRuns.append(try record(seconds: Self.hour / 10, "\(storage)-short", alsa))
            arecordRuns.append(
                try MeasuredProcess(
                    [
                        "arecord", "-q", "-D", "benchmark", "-t", "wav", "-f", "S16_LE", "-r", "16000", "-c", "1", "-d",
                        "\(Self.hour)", "\(harness.folder)/arecord.wav",
                    ], environment: alsa))
            for path in [storage, "\(storage)-short"] { _ = try MeasuredProcess(["rm", "-r", path]) }
        }
        guard (fieldscribeRuns + arecordRuns + shortRuns).allSatisfy({ $0.status == 0 }) else {
            throw DeviceError(
                .failed, "benchmark", "a recording failed; run record --microphone alsa+fast:NAME by hand")
        }
        var table = Table("measurement", "fieldscribe", "peer", "ratio")
        table.compare(
            "capture to disk, an hour: CPU s (median of 5)", fieldscribeRuns.median(\.cpuSeconds),
            arecordRuns.median(\.cpuSeconds))
        table.compare(
            "capture to disk: peak MB after 60 min, compared with 6 min", fieldscribeRuns.median(\.peakMegabytes),
            shortRuns.median(\.peakMegabytes))
        print(table.markdown)
    }

    private func record(
        seconds: Int, _ storage: String, _ environment: [String: String]
    ) throws -> MeasuredProcess {
        try MeasuredProcess(
            [
                harness.fieldscribe, "record", "--audio-only", "--seconds", "\(seconds)", "--microphone",
                "alsa+fast:benchmark", "--directory", storage,
            ], environment: environment)
    }

    /// Writes an hour of soft noise from a linear congruential generator.
    private func writeNoise(to path: String) throws {
        let file = try FileDescriptor(opening: path, O_WRONLY | O_CREAT | O_TRUNC)
        var state: UInt32 = 1
        // Writes one second at a time, because a child process's peak memory includes the memory of its parent.
        for _ in 0..<Self.hour {
            let samples = (0..<SamplePosition.rate).map { _ -> Int16 in
                state = state &* 1_664_525 &+ 1_013_904_223
                return Int16(truncatingIfNeeded: Int32(bitPattern: state) >> 22)
            }
            try samples.withUnsafeBytes { try file.write($0) }
        }
    }
}
