import Archive
import Core
import Glibc
import System

/// Copies many short recordings to a stick, and again with nothing new.
struct CopiesBenchmark {
    let workshop: Workshop
    /// A folder on the simulated stick.
    let target: String
    let count: Int

    func run() throws {
        let storage = "\(workshop.folder)/copies-\(getpid())"
        let stick = "\(target)/stick-\(getpid())"
        defer { _ = try? MeasuredProcess(["rm", "-rf", storage, stick]) }
        try makeFolder(stick)
        try record(into: storage)
        let configuration = "\(workshop.folder)/copies.conf"
        try durableReplace(path: configuration, with: "[export]\naudio = wav\n")
        var table = Table("\(count) recordings", "s")
        for what in ["copied", "nothing new", "again, nothing new"] {
            let cost = try MeasuredProcess([
                workshop.fieldscribe, "export", "--to", stick, "--directory", storage, "--config", configuration,
            ])
            guard cost.status == 0 else { throw DeviceError(.failed, "benchmark", "\(stick): copying to it failed") }
            table.add([what, shown(cost.wallSeconds, 1)])
        }
        print(table.markdown)
    }

    /// Records the first recording, and copies it for all others.
    private func record(into storage: String) throws {
        try workshop.record("tone:440", seconds: 1, into: storage)
        let script = """
            cd '\(storage)/recordings' && for i in $(seq 2 \(count)); do
                n=$(printf %06d "$i"); mkdir -p "$n"; ln -f 000001/audio.wav "$n/audio.wav"; done
            """
        guard try MeasuredProcess(["sh", "-c", script]).status == 0 else {
            throw DeviceError(.failed, "benchmark", "\(storage): cannot be filled")
        }
        try CopiesArchive.fill("\(storage)/archive.sqlite", count: count)
    }
}
