import Core
import Glibc
import System

/// Folders of one-second recordings, all copies of the first one.
struct ArchiveFolders {
    let workshop: Workshop
    let storage: String
    let count: Int

    /// Records the first one; returns the length of its journal in bytes.
    func first() throws -> Int64 {
        try workshop.record("tone:440", seconds: 1, into: storage)
        // Without the line that names the recording, the journal fits every recording.
        let path = "\(storage)/recordings/000001/journal.jsonl"
        let isAnybodys = try MeasuredProcess(["sed", "-i", "/\"recording\":{/d", path]).status == 0
        guard isAnybodys, let journal = FileStatus(path) else {
            throw DeviceError(.failed, "benchmark", "\(storage): recording to it failed")
        }
        return journal.bytes
    }

    /// Copies the first recording's folder for all others.
    func others() throws {
        let script = """
            cd '\(storage)/recordings' && for i in $(seq -f %06g 2 \(count)); do cp -r 000001 "$i" || exit 1; done
            """
        guard try MeasuredProcess(["sh", "-c", script]).status == 0 else {
            throw DeviceError(.failed, "benchmark", "\(storage): cannot be filled")
        }
    }

    func size() -> String {
        "database: \(shown(Double(FileStatus("\(storage)/archive.sqlite")?.bytes ?? 0) / 1e9, 2)) GB"
    }

    /// Drops the kernel's page cache, as a power cut does; returns whether that worked.
    func dropCaches() throws -> String {
        let status = try MeasuredProcess(["sh", "-c", "sync; echo 3 >/proc/sys/vm/drop_caches"]).status
        return status == 0 ? "page cache dropped" : "parts may be in the page cache, which only root can drop"
    }

    /// Starts an export of all recordings, which is killed when the returned process is released.
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
