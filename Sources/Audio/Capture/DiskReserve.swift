import Core
import Glibc
import System

/// The space that recordings leave free on their disk, and the `ballast` file that is deleted when the disk is full.
package struct DiskReserve: Sendable {
    /// The data rate of one channel.
    static let bytesPerSecond = Int64(SamplePosition.rate * 2)

    /// The size of `ballast`: enough to close a recording and to write its end to the archive.
    static let ballastBytes: Int64 = 4 << 20

    /// Below this many free bytes, the disk counts as full.
    private static let exhaustedBytes: Int64 = 1 << 20

    /// The folder with the ballast file; any folder of the disk.
    package let directory: String

    /// The bytes that recordings leave free.
    package let reserveBytes: Int64

    private let free: @Sendable (String) throws(DeviceError) -> Int64

    /// - Parameter megabytes: the reserve, in units of 1,000,000 bytes.
    package init(directory: String, megabytes: Int) {
        self.init(directory: directory, reserveBytes: Int64(megabytes) * 1_000_000, free: availableBytes)
    }

    init(
        directory: String, reserveBytes: Int64, free: @escaping @Sendable (String) throws(DeviceError) -> Int64
    ) {
        self.directory = directory
        self.reserveBytes = reserveBytes
        self.free = free
    }

    /// Returns the bytes that this user may still write.
    package func freeBytes() throws(DeviceError) -> Int64 { try free(directory) }

    /// Returns the hours of audio until recordings end because of the reserve.
    package func runwayHours(channels: Int = 1) throws(DeviceError) -> Double {
        Double(max(0, try freeBytes() - reserveBytes)) / Double(Self.bytesPerSecond) / Double(channels) / 3_600
    }

    /// Throws `full`, with the free space and a remedy, if less than the reserve is free.
    package func check() throws(DeviceError) {
        let free = try freeBytes()
        guard free < reserveBytes else { return }
        throw DeviceError(
            .full, "statvfs",
            "\(directory): only \(free / 1_000_000) MB are free, and storage.reserve-megabytes keeps "
                + "\(reserveBytes / 1_000_000) MB free; export recordings and delete them")
    }

    /// Whether the disk is really full: ENOSPC can have other causes.
    var isExhausted: Bool { ((try? freeBytes()) ?? .max) < Self.exhaustedBytes }

    /// Creates the ballast file and syncs it, if it is missing and there is space above the reserve.
    package func keepBallast() throws(DeviceError) {
        guard try freeBytes() >= reserveBytes + Self.ballastBytes else { return }
        let folder = try Folder(opening: directory, crosses: true)
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
        // Without a file descriptor: the limit may be reached, too.
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
