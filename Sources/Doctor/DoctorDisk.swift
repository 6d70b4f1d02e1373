import Core
import Glibc
import Platform

/// Measures the file system on which recordings are kept: its room, and how long a second of sound takes to be durable.
func doctorDisk(_ directory: String) async -> Result<DoctorFacts.Disk, DeviceError> {
    await measured("doctor") {
        let place = nearest(to: directory)
        var status = statvfs()
        guard statvfs(place, &status) == 0 else { throw DeviceError.system("statvfs", on: place) }
        return DoctorFacts.Disk(
            directory: directory, freeBytes: Double(status.f_bavail) * Double(status.f_frsize),
            syncSeconds: try syncSeconds(in: place, times: 20))
    }
}

/// The folder itself, or the first above it that is there: the appliance makes the rest.
private func nearest(to directory: String) -> String {
    var path = directory
    while access(path, F_OK) != 0, let slash = path.lastIndex(of: "/") {
        path = slash == path.startIndex ? "/" : String(path[..<slash])
        if path == "/" { break }
    }
    return path
}

/// Appends a second of sound and waits until it is durable, as a recording does. The file has no name when it is done.
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
