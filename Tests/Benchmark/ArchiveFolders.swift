import Core
import Glibc
import System

/// Creates the folders of an archive with one-second recordings that are all copies of the first.
struct ArchiveFolders {
    let harness: Harness
    let storage: String
    /// The number of recordings.
    let count: Int

    /// Records the first recording; returns the size of its journal in bytes.
    func makeFirst() throws -> Int64 {
        try harness.record("tone:440", seconds: 1, into: storage)
        // Deletes the line with the recording's ID, so that all recordings can have the same journal.
        let path = "\(storage)/recordings/000001/journal.jsonl"
        let didDeleteLine = try MeasuredProcess(["sed", "-i", "/\"recording\":{/d", path]).status == 0
        guard didDeleteLine, let journal = FileStatus(path) else {
            throw DeviceError(.failed, "benchmark", "recording to \(storage) failed")
        }
        return journal.bytes
    }

    /// Creates the folders of all other recordings as copies of the first.
    func copyFirst() throws {
        let script = """
            cd '\(storage)/recordings' && for i in $(seq -f %06g 2 \(count)); do cp -r 000001 "$i" || exit 1; done
            """
        guard try MeasuredProcess(["sh", "-c", script]).status == 0 else {
            throw DeviceError(.failed, "benchmark", "\(storage): copying recordings failed")
        }
    }

    /// Describes the size of the database.
    func describeSize() -> String {
        "database: \(formatted(Double(FileStatus("\(storage)/archive.sqlite")?.bytes ?? 0) / 1e9, 2)) GB"
    }

    /// Drops the kernel's page cache, as a power cut does; returns a message about the result.
    func dropCaches() throws -> String {
        let status = try MeasuredProcess(["sh", "-c", "sync; echo 3 >/proc/sys/vm/drop_caches"]).status
        return status == 0 ? "page cache dropped" : "files may be in the page cache, because only root can drop it"
    }

    /// Starts an export of all recordings. The returned process is killed when it goes out of scope.
    func export(to folder: String, configuration: String) throws -> ChildProcess {
        try makeFolder(folder)
        return try ChildProcess(
            "/bin/sh",
            arguments: [
                "-c",
                "exec '\(harness.fieldscribe)' export --to '\(folder)' --config '\(configuration)' >/dev/null 2>&1",
            ])
    }
}
