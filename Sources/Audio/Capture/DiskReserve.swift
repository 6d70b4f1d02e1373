import Core
import Glibc
import System

/// The disk space that recordings leave free, and the `ballast` file, which is deleted when the disk is full.
package struct DiskReserve: Sendable {
    static let bytesPerSecond = Int64(SamplePosition.rate * 2)

    /// The size of `ballast`. This is enough to close a recording and to store its end in the archive.
    static let ballastBytes: Int64 = 4 << 20

    /// The number of free bytes below which the disk counts as full.
    private static let exhaustedBytes: Int64 = 1 << 20

    /// The folder for the ballast file, which may be any folder on the disk.
    package let directory: String

    package let reserveBytes: Int64

    private let measureFreeBytes: @Sendable (String) throws(DeviceError) -> Int64

    /// - Parameter megabytes: The reserve, in units of 1,000,000 bytes.
    package init(directory: String, megabytes: Int) {
        self.init(directory: directory, reserveBytes: Int64(megabytes) * 1_000_000, free: availableBytes)
    }

    init(
        directory: String, reserveBytes: Int64, free: @escaping @Sendable (String) throws(DeviceError) -> Int64
    ) {
        self.directory = directory
        self.reserveBytes = reserveBytes
        measureFreeBytes = free
    }

    /// Returns the number of bytes that this user may still write.
    package func freeBytes() throws(DeviceError) -> Int64 { try measureFreeBytes(directory) }

    /// Returns how many hours of audio fit on the disk until the reserve is reached.
    package func runwayHours(channels: Int = 1) throws(DeviceError) -> Double {
        Double(max(0, try freeBytes() - reserveBytes)) / Double(Self.bytesPerSecond) / Double(channels) / 3_600
    }

    /// Throws `full` if less than the reserve is free.
    package func check() throws(DeviceError) {
        let free = try freeBytes()
        guard free < reserveBytes else { return }
        throw DeviceError(
            .full, "statvfs",
            "\(directory): only \(free / 1_000_000) MB are free, but storage.reserve-megabytes requires "
                + "\(reserveBytes / 1_000_000) MB; export recordings and delete them")
    }

    /// Whether the disk is actually full, since ENOSPC can have other causes.
    var isExhausted: Bool { ((try? freeBytes()) ?? .max) < Self.exhaustedBytes }

    /// Creates and syncs the ballast file if it is missing and fits without using the reserve.
    package func ensureBallast() throws(DeviceError) {
        guard try freeBytes() >= reserveBytes + Self.ballastBytes else { return }
        let folder = try Folder(opening: directory, crossesMounts: true)
        let file = try folder.openFile(Self.ballast, O_RDWR | O_CREAT)
        guard try file.size() < Self.ballastBytes else { return }
        var status = EINTR
        while status == EINTR { status = posix_fallocate(file.number, 0, off_t(Self.ballastBytes)) }
        guard status == 0 else {
            try? folder.remove(Self.ballast)
            throw .system("posix_fallocate", status: status, on: file.path)
        }
        try file.sync()
        try folder.sync()
    }

    func releaseBallast() {
        // Do not open the file, because the limit on file descriptors may have been reached.
        let path = "\(directory)/\(Self.ballast)"
        if FileStatus(path)?.kind == .file { unlink(path) }
    }

    private static let ballast = "ballast"
}

private func availableBytes(in folder: String) throws(DeviceError) -> Int64 {
    var status = statvfs()
    guard statvfs(folder, &status) == 0 else { throw .system("statvfs", on: folder) }
    let (bytes, overflow) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
    return overflow ? .max : Int64(clamping: bytes)
}
