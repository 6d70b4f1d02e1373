import Core
import Glibc
import System

/// How much room recordings leave on their disk, and the room that is kept for the moment when there is none.
package struct DiskReserve: Sendable {
    /// Bytes a second of each channel of a recording.
    static let bytesPerSecond = Int64(SamplePosition.rate * 2)

    /// Bytes of the file `ballast`, which gives way when the disk is full: enough to close a recording and to enter
    /// its end into the archive.
    static let ballastBytes: Int64 = 4 << 20

    /// With less than this free the disk counts as full, whatever else a refused write may mean.
    private static let exhaustedBytes: Int64 = 1 << 20

    /// A folder of the disk, in which the ballast lies.
    package let directory: String

    /// Bytes that recordings leave free.
    package let reserveBytes: Int64

    private let free: @Sendable (String) throws(DeviceError) -> Int64

    /// - Parameters:
    ///   - directory: any folder of that disk; the ballast lies in it.
    ///   - megabytes: of 1,000,000 bytes.
    package init(directory: String, megabytes: Int) {
        self.init(directory: directory, reserveBytes: Int64(megabytes) * 1_000_000, free: availableBytes)
    }

    /// A reserve on a disk that says of itself how much is free.
    init(
        directory: String, reserveBytes: Int64, free: @escaping @Sendable (String) throws(DeviceError) -> Int64
    ) {
        self.directory = directory
        self.reserveBytes = reserveBytes
        self.free = free
    }

    /// Bytes that this user may still write.
    package func freeBytes() throws(DeviceError) -> Int64 { try free(directory) }

    /// Hours of audio until recordings end by themselves.
    ///
    /// - Parameter channels: of the recordings.
    package func runwayHours(channels: Int = 1) throws(DeviceError) -> Double {
        Double(max(0, try freeBytes() - reserveBytes)) / Double(Self.bytesPerSecond) / Double(channels) / 3_600
    }

    /// Throws `full`, with what is free and what to do, where less than the reserve is free.
    package func check() throws(DeviceError) {
        let free = try freeBytes()
        guard free < reserveBytes else { return }
        throw DeviceError(
            .full, "statvfs",
            "\(directory): only \(free / 1_000_000) MB are free, and storage.reserve-megabytes keeps "
                + "\(reserveBytes / 1_000_000) MB free; export recordings and delete them")
    }

    /// Whether the disk is really full; not every refusal for want of space means that.
    var isExhausted: Bool { ((try? freeBytes()) ?? .max) < Self.exhaustedBytes }

    /// Makes the ballast, durably, where it is not there and there is room above the reserve.
    package func keepBallast() throws(DeviceError) {
        guard try freeBytes() >= reserveBytes + Self.ballastBytes else { return }
        let folder = try Folder(opening: directory, crosses: true)
        let file = try folder.openFile(Self.ballast, O_RDWR | O_CREAT)
        guard try file.size() < Self.ballastBytes else { return }
        let status = posix_fallocate(file.number, 0, off_t(Self.ballastBytes))
        guard status == 0 else {
            try? folder.remove(Self.ballast)
            throw .system("posix_fallocate", status: status, on: file.path)
        }
        try file.sync()
        try folder.sync()
    }

    /// Gives the ballast's room to whoever writes next; there need not be one.
    func releaseBallast() {
        // Without a descriptor: there may be none left either.
        let path = "\(directory)/\(Self.ballast)"
        if FileStatus(path)?.kind == .file { unlink(path) }
    }

    private static let ballast = "ballast"
}

/// Bytes that an ordinary user may still write to the disk of a folder. The corresponding C function is `statvfs`.
private func availableBytes(in folder: String) throws(DeviceError) -> Int64 {
    var status = statvfs()
    guard statvfs(folder, &status) == 0 else { throw .system("statvfs", on: folder) }
    let (bytes, overflow) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
    return overflow ? .max : Int64(clamping: bytes)
}
