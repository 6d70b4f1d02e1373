import Core
import Glibc
import Platform

/// Sealed copies of an hour against `age` alone on the same tar, and against copies that are not sealed; all on the disk at the end.
/// A sealed copy is also encoded, twice, and read back; the other is encoded, read back and decoded.
struct SealingBenchmark {
    private static let rounds = 5

    let workshop: Workshop
    /// A folder on what stands for the stick.
    let target: String

    func run() throws {
        let folder = "\(workshop.folder)/sealing-\(getpid())"
        try makeFolder(folder)
        defer { _ = try? MeasuredProcess(["rm", "-rf", folder]) }
        let (key, storage) = ("\(folder)/key.txt", "\(folder)/storage")
        try tool("age-keygen -o '\(key)' && age-keygen -y '\(key)' > '\(folder)/key.pub'")
        // Noise: of all sound it makes the longest FLAC.
        for seconds in [3_600, 360] {
            try tool("sox -R -n -r 16000 -b 16 -c 1 '\(folder)/noise.wav' synth \(seconds) pinknoise gain -6")
            _ = try measure([
                workshop.fieldscribe, "record", "--audio-only", "--seconds", "\(seconds)", "--microphone",
                "file+fast:\(folder)/noise.wav", "--directory", storage,
            ])
        }
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
            for _ in 0..<Self.rounds {
                sync()
                ours.append(try export("1", storage, folder))
                try tool(
                    "age -d -i '\(key)' -o '\(folder)/hour.tar' '\(target)'/Fieldscribe/sealed*/000001.fieldscribe.age")
                try tool("rm -r '\(target)/Fieldscribe'")
                sync()
                alone.append(
                    try measure([
                        "sh", "-c",
                        "age -R '\(folder)/key.pub' -o '\(target)/hour.age' '\(folder)/hour.tar' && sync -f '\(target)'",
                    ]))
                try tool("rm '\(target)/hour.age'")
                plain.append(try export("1", storage, folder, "plain.conf"))
                try tool("rm -r '\(target)/Fieldscribe'")
                small = try export("2", storage, folder).peakMegabytes
                try tool("rm -r '\(target)/Fieldscribe'")
            }
            let megabytes = Double(try FileDescriptor(opening: "\(folder)/hour.tar", O_RDONLY).size()) / 1e6
            let (wall, age) = (ours.median(\.wallSeconds), alone.median(\.wallSeconds))
            table.add(["\(form): age and sync", shown(age, 2), shown(megabytes, 1), "1.00", "", ""])
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
    }

    private func export(
        _ recording: String, _ storage: String, _ folder: String, _ configuration: String = "export.conf"
    ) throws -> MeasuredProcess {
        try measure([
            workshop.fieldscribe, "export", recording, "--to", target, "--directory", storage, "--config",
            "\(folder)/\(configuration)",
        ])
    }

    private func tool(_ command: String) throws { _ = try measure(["sh", "-c", command]) }

    private func measure(_ words: [String]) throws -> MeasuredProcess {
        let cost = try MeasuredProcess(words)
        guard cost.status == 0 else {
            throw DeviceError(.failed, "benchmark", "\(words.joined(separator: " ")): failed; run it by hand")
        }
        return cost
    }
}
