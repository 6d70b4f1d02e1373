import Core
import Glibc
import System

/// Measures the file system of recordings: its free space, and the time to sync a second of audio.
func doctorDisk(_ directory: String) async -> Result<DoctorFacts.Disk, DeviceError> {
    await measured("doctor") {
        let place = nearest(to: directory)
        var status = statvfs()
        guard statvfs(place, &status) == 0 else { throw DeviceError.system("statvfs", on: place) }
        var disk = DoctorFacts.Disk(
            directory: directory, freeBytes: Double(status.f_bavail) * Double(status.f_frsize),
            syncSeconds: try syncSeconds(in: place, times: 20))
        disk.readable = doctorReadable(directory)
        return disk
    }
}

/// The files and folders of an archive that other users on this machine may read.
func doctorReadable(_ directory: String) -> [String] {
    guard let folder = try? FileDescriptor(opening: directory, O_RDONLY | O_DIRECTORY),
        let permissions = try? folder.status().permissions, permissions & 0o011 != 0
    else { return [] }
    return ["archive.sqlite", "archive.sqlite-wal", "history.jsonl", "recordings"].filter { name in
        FileStatus("\(directory)/\(name)").map { $0.permissions & 0o055 != 0 } ?? false
    }
}

/// The folder itself, or its nearest existing parent; the appliance makes the rest.
private func nearest(to directory: String) -> String {
    var path = directory
    while access(path, F_OK) != 0, folder(of: path) != path { path = folder(of: path) }
    return path
}

/// Writes and syncs a second of audio several times, as a recording does, in an unlinked file.
private func syncSeconds(in folder: String, times: Int) throws(DeviceError) -> [Double] {
    let path = "\(folder)/.fieldscribe-doctor-\(getpid())"
    let file = try FileDescriptor(opening: path, O_WRONLY | O_CREAT | O_EXCL)
    unlink(path)
    let second = UnsafeMutableRawBufferPointer.allocate(byteCount: 32_000, alignment: 1)
    defer { second.deallocate() }
    second.initializeMemory(as: UInt8.self, repeating: 0x55)
    var seconds: [Double] = []
    for _ in 0..<times {
        let start = MonotonicClock.nanoseconds
        try file.write(UnsafeRawBufferPointer(second))
        try file.syncData()
        seconds.append(Double(MonotonicClock.nanoseconds - start) / 1e9)
    }
    return seconds
}
