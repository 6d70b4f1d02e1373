import Core
import Glibc
import System

/// Folders of recordings of a second each, all like the first.
struct ArchiveFolders {
    let workshop: Workshop
    let storage: String
    let count: Int

    /// Records the first; returns how long its journal is, in bytes.
    func first() throws -> Int64 {
        let one = try MeasuredProcess([
            workshop.fieldscribe, "record", "--audio-only", "--seconds", "1", "--microphone", "tone:440", "--directory",
            storage,
        ])
        // Without the line that says whose it is, as in archives of earlier versions: it is to be all recordings'.
        let path = "\(storage)/recordings/000001/journal.jsonl"
        let isAnybodys = try MeasuredProcess(["sed", "-i", "/\"recording\":{/d", path]).status == 0
        guard one.status == 0, isAnybodys, let journal = FileStatus(path) else {
            throw DeviceError(.failed, "benchmark", "\(storage): cannot be recorded to")
        }
        return journal.bytes
    }

    /// Makes the others like it.
    func others() throws {
        let script = """
            cd '\(storage)/recordings' && for i in $(seq -f %06g 2 \(count)); do cp -r 000001 "$i" || exit 1; done
            """
        guard try MeasuredProcess(["sh", "-c", script]).status == 0 else {
            throw DeviceError(.failed, "benchmark", "\(storage): cannot be filled")
        }
    }

    /// How large the database is.
    func size() throws -> String {
        "database: \(shown(Double(FileStatus("\(storage)/archive.sqlite")?.bytes ?? 0) / 1e9, 2)) GB"
    }

    /// Lets the kernel forget what it holds of files, as after a power cut; says whether it did.
    func dropCaches() throws -> String {
        let status = try MeasuredProcess(["sh", "-c", "sync; echo 3 >/proc/sys/vm/drop_caches"]).status
        return status == 0 ? "nothing of it in memory" : "some of it may be in memory, since only root empties that"
    }

    /// Copies all recordings; ends with its value.
    func export(to folder: String, configuration: String) throws -> ChildProcess {
        try makeFolder(folder)
        return try ChildProcess(
            "/bin/sh",
            arguments: [
                "-c",
                "exec '\(workshop.fieldscribe)' export --to '\(folder)' --config '\(configuration)' >/dev/null 2>&1",
            ])
    }
}
