import Core
import Glibc
import Platform

/// Measures what README tells: `swift run -c release benchmark`. Prints a Markdown table.
///
/// The hour of field recording is made from the corpus beside the repository; the capture part needs none.
@main struct Benchmark {
    private static let corpus = "../shared/corpus"
    private static let hour = 3_600

    static func main() throws {
        let folder = (getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp") + "/fieldscribe-benchmark"
        try makeFolder(folder)
        let fieldscribe = try executable()
        print("| what | fieldscribe | peer | ratio |\n|---|---|---|---|")
        try measureCapture(fieldscribe, in: folder)
        guard access("\(corpus)/field1h/make_field1h.py", R_OK) == 0 else {
            return print("\nskipped: the field hour; \(corpus) is not there")
        }
        try measureFieldHour(fieldscribe, in: folder)
    }

    /// An hour from a PCM of libasound to the card, as fast as it goes, against arecord writing the same file.
    private static func measureCapture(_ fieldscribe: String, in folder: String) throws {
        let sound = "\(folder)/hour.raw"
        try makeSound(sound)
        let configuration = "\(folder)/asound.conf"
        try durableReplace(
            path: configuration,
            with: """
                </usr/share/alsa/alsa.conf>
                pcm.benchmark { type file slave.pcm null file /dev/null infile "\(sound)" format raw }

                """)
        let alsa = ["ALSA_CONFIG_PATH": configuration]
        var ours: [MeasuredProcess] = []
        var theirs: [MeasuredProcess] = []
        var short: [MeasuredProcess] = []
        for round in 0..<5 {
            let storage = "\(folder)/storage-\(getpid())-\(round)"
            ours.append(try record(fieldscribe, seconds: hour, storage, alsa))
            short.append(try record(fieldscribe, seconds: hour / 10, "\(storage)-short", alsa))
            theirs.append(
                try MeasuredProcess(
                    [
                        "arecord", "-q", "-D", "benchmark", "-t", "wav", "-f", "S16_LE", "-r", "16000", "-c", "1", "-d",
                        "\(hour)", "\(folder)/arecord.wav",
                    ], environment: alsa))
            for path in [storage, "\(storage)-short"] { _ = try MeasuredProcess(["rm", "-r", path]) }
        }
        guard (ours + theirs + short).allSatisfy({ $0.status == 0 }) else {
            throw DeviceError(
                .failed, "benchmark", "a recording failed; run record --microphone alsa+fast:NAME by hand")
        }
        row("capture to disk, an hour: CPU s (median of 5)", median(ours, \.cpuSeconds), median(theirs, \.cpuSeconds))
        row(
            "capture to disk: peak MB after 60 min against 6 min", median(ours, \.peakMegabytes),
            median(short, \.peakMegabytes))
    }

    private static func record(
        _ fieldscribe: String, seconds: Int, _ storage: String, _ environment: [String: String]
    ) throws -> MeasuredProcess {
        try MeasuredProcess(
            [
                fieldscribe, "record", "--audio-only", "--seconds", "\(seconds)", "--microphone",
                "alsa+fast:benchmark", "--directory", storage,
            ], environment: environment)
    }

    /// The field hour: two workers against pocketsphinx_continuous on the same file.
    private static func measureFieldHour(_ fieldscribe: String, in folder: String) throws {
        let (wave, times) = ("\(folder)/field1h.wav", "\(folder)/field1h.tsv")
        let made = try MeasuredProcess(["python3", "\(corpus)/field1h/make_field1h.py", "--out", wave, "--tsv", times])
        guard made.status == 0 else { throw DeviceError(.failed, "benchmark", "make_field1h.py failed") }
        let reference = try lines(times).dropFirst().map { $0.split(separator: "\t")[2] }.joined(separator: " ")
        let ours = try MeasuredProcess([fieldscribe, "transcribe", "--jobs", "2", wave], output: "\(folder)/ours.txt")
        let peer = try MeasuredProcess(["pocketsphinx_continuous", "-infile", wave], output: "\(folder)/peer.txt")
        guard ours.status == 0, peer.status == 0 else {
            throw DeviceError(.failed, "benchmark", "a transcription failed; run it by hand")
        }
        row("transcribe --jobs 2, the field hour: wall s", ours.wallSeconds, peer.wallSeconds)
        let rate = { (path: String) in
            WordErrorRate(reference: reference, hypothesis: try lines(path).joined(separator: " ")).percent
        }
        row("the field hour: word error rate, %", try rate("\(folder)/ours.txt"), try rate("\(folder)/peer.txt"))
    }

    private static func row(_ what: String, _ ours: Double, _ peer: Double) {
        print("| \(what) | \(rounded(ours)) | \(rounded(peer)) | \(rounded(ours / peer)) |")
        fflush(nil)
    }

    private static func rounded(_ value: Double) -> Double { (value * 100).rounded() / 100 }

    private static func median(_ runs: [MeasuredProcess], _ figure: (MeasuredProcess) -> Double) -> Double {
        runs.map(figure).sorted()[runs.count / 2]
    }

    private static func lines(_ path: String) throws -> [String] {
        let file = try FileDescriptor(opening: path, O_RDONLY)
        var bytes = [UInt8](repeating: 0, count: Int(try file.size()))
        let count = try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: 0) }
        return String(decoding: bytes[..<count], as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// An hour of soft noise, made by a small generator.
    private static func makeSound(_ path: String) throws {
        let file = try FileDescriptor(opening: path, O_WRONLY | O_CREAT | O_TRUNC)
        var state: UInt32 = 1
        // A second at a time: the peak memory of a child begins with its parent's.
        for _ in 0..<hour {
            let samples = (0..<SamplePosition.rate).map { _ -> Int16 in
                state = state &* 1_664_525 &+ 1_013_904_223
                return Int16(truncatingIfNeeded: Int32(bitPattern: state) >> 22)
            }
            try samples.withUnsafeBytes { try file.write($0) }
        }
    }

    /// The release executable beside this one.
    private static func executable() throws -> String {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count - 1)
        let own = String(decoding: buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let path = own.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" } + "/fieldscribe"
        guard access(path, X_OK) == 0 else {
            throw DeviceError(.missing, "access", "\(path): not built; run swift build -c release first")
        }
        return path
    }
}
