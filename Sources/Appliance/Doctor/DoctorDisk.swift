import Core
import Glibc
import System

/// Measures the disk for recordings: its free space, and the time to sync a second of audio.
func doctorDisk(_ directory: String) async -> Result<DoctorFacts.Disk, DeviceError> {
    await measured("doctor") {
        let folder = nearestExistingFolder(to: directory)
        var status = statvfs()
        guard statvfs(folder, &status) == 0 else { throw DeviceError.system("statvfs", on: folder) }
        var disk = DoctorFacts.Disk(
            directory: directory, freeBytes: Double(status.f_bavail) * Double(status.f_frsize),
            syncSeconds: try syncSeconds(in: folder, times: 20))
        disk.readable = doctorReadable(directory)
        return disk
    }
}

/// Returns the files and folders of an archive that other users of this machine may read.
func doctorReadable(_ directory: String) -> [String] {
    guard let folder = try? FileDescriptor(opening: directory, O_RDONLY | O_DIRECTORY),
        let permissions = try? folder.status().permissions, permissions & 0o011 != 0
    else { return [] }
    return ["archive.sqlite", "archive.sqlite-wal", "history.jsonl", "recordings"].filter { name in
        FileStatus("\(directory)/\(name)").map { $0.permissions & 0o055 != 0 } ?? false
    }
}

/// Returns the folder itself if it exists, otherwise its nearest existing ancestor.
private func nearestExistingFolder(to directory: String) -> String {
    var path = directory
    while access(path, F_OK) != 0, folder(of: path) != path { path = folder(of: path) }
    return path
}

/// Writes and syncs a second of audio several times, as a recording does, to an unlinked file. Returns the durations in
/// seconds.
private func syncSeconds(in folder: String, times: Int) throws(DeviceError) -> [Double] {
    let path = "\(folder)/.fieldscribe-doctor-\(getpid())"
    let file = try FileDescriptor(opening: path, O_WRONLY | O_CREAT | O_EXCL)
    unlink(path)
    let audio = UnsafeMutableRawBufferPointer.allocate(byteCount: 32_000, alignment: 1)
    defer { audio.deallocate() }
    audio.initializeMemory(as: UInt8.self, repeating: 0x55)
    var durations: [Double] = []
    for _ in 0..<times {
        let start = MonotonicClock.nanoseconds
        try file.write(UnsafeRawBufferPointer(audio))
        try file.syncData()
        durations.append(Double(MonotonicClock.nanoseconds - start) / 1e9)
    }
    return durations
}
