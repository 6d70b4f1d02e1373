import Audio
import Copying
import Core
import Glibc
import Maintenance
import Settings
import System
import Transcripts

/// The state of the drive for laptops, and the recordings to copy to it.
package struct DrivePlan {
    /// The drive's image and the files beside it.
    package struct Folder {
        let storage: String

        private var path: String { "\(storage)/drive" }
        var image: String { "\(path)/image" }
        /// The path of the file that describes the image's content.
        package var contents: String { DriveContents.path(in: storage) }
        package var ledger: String { "\(path)/ledger" }
    }

    package let archive: RemoteArchive
    package let folder: Folder
    /// The current content of the image; nil if there is no image or its content is unknown.
    package let imageContents: DriveContents?
    /// The drive's planned content.
    package let contents: DriveContents
    /// The recordings to copy: those that fit, newest first.
    package let recordings: [Int]
    /// The number of recordings that do not fit.
    package let omittedCount: Int
    package let step: DriveStep
    private let imageBytes: Int64
    private let reserveBytes: Int64

    /// Plans the drive from the recordings and the free space.
    ///
    /// - Throws: `DeviceError` with `disconnected` if the appliance is not running or uses another storage directory,
    ///   or another error.
    package init(_ configuration: Configuration) async throws {
        let directory = configuration.storage.directory
        let archive = RemoteArchive(configuration, directory: directory)
        guard (try? await archive.isAvailable) ?? false else {
            throw DeviceError(
                .disconnected, "drive", "the appliance is not running; start it: systemctl start fieldscribe")
        }
        let recipients = try Self.recipients(for: configuration)
        let folder = Folder(storage: directory)
        let reserve = configuration.reserve
        var space = DriveSpace(
            free: try reserve.freeBytes(), imageSize: Self.allocatedBytes(folder.image), reserve: reserve.reserveBytes)
        (imageBytes, reserveBytes) = (space.imageSize, space.reserve)

        let allRecordings = try await archive.recordings()
        let candidates = allRecordings.filter { $0.length > .zero && !$0.isMissing }
        let settings = CopySettings(configuration, volume: "", now: 0)
        let fittingRecordings = DriveContents.fitting(candidates, in: space.budget) {
            let audio = RecordingFolder(storage: directory, recording: $0.id).audio
            let reader = try? RecordingReader(path: audio)
            let original = try? reader?.original()
            return settings.expectedBytes($0.length, channels: reader?.channels ?? 1) + (original?.bytes ?? 0)
        }
        var contents = DriveContents(
            isSealed: recipients != nil, settings: Self.digest(settings, configuration, recipients))
        for recording in fittingRecordings {
            let pass = settings.formats.isEmpty ? nil : try await archive.shownPass(of: recording.id)
            contents.marks[recording.id] = DriveContents.mark(of: recording, pass: pass)
        }
        let imageExists = FileStatus(folder.image)?.kind == .file
        let text = imageExists ? try? content(ofFile: folder.contents) : nil
        let imageContents = text.flatMap { DriveContents(String(decoding: $0, as: UTF8.self)) }
        if !imageExists { space.imageSize = 0 }
        step = contents.step(from: imageContents, existing: Set(allRecordings.map(\.id)), space: space)
        (self.archive, self.folder, self.imageContents, self.contents) = (archive, folder, imageContents, contents)
        (recordings, omittedCount) = (fittingRecordings.map(\.id), candidates.count - fittingRecordings.count)
    }

    /// Returns the public keys for the drive. If `export.recipients` is empty, these are the keys in `storage.seal`:
    /// the drive is on the recorder's own card, where copies of sealed recordings must not be readable.
    package static func recipients(for configuration: Configuration) throws(DeviceError) -> [Recipient]? {
        if let recipients = try configuration.recipients() { return recipients }
        return try configuration.sealRecipients()
    }

    /// Returns the space on the drive if the card has this many free bytes.
    package func space(free: Int64) -> DriveSpace {
        DriveSpace(free: free, imageSize: imageBytes, reserve: reserveBytes)
    }

    /// Returns the size of a new, sparse image: the size of the disk, but at most 1 TiB.
    package static func imageBytes(_ configuration: Configuration) throws(DeviceError) -> Int64 {
        var status = statvfs()
        guard statvfs(configuration.storage.directory, &status) == 0 else {
            throw .system("statvfs", on: configuration.storage.directory)
        }
        let (bytes, overflows) = Int64(clamping: status.f_blocks).multipliedReportingOverflow(
            by: Int64(clamping: status.f_frsize))
        let maximum: Int64 = 1 << 40
        return (min(overflows ? maximum : bytes, maximum) >> 20) << 20
    }

    /// Returns a digest of all settings that affect copies.
    private static func digest(
        _ settings: CopySettings, _ configuration: Configuration, _ recipients: [Recipient]?
    ) -> String {
        let values =
            settings.formats.map(\.rawValue) + [
                settings.audio.rawValue, settings.device.text, configuration.recognizer.punctuation.rawValue,
            ]
        return Digest.of((values + (recipients ?? []).map(\.text)).joined(separator: "\n"))
    }

    /// Returns the number of bytes that a file occupies on its disk.
    private static func allocatedBytes(_ path: String) -> Int64 {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return 0 }
        return Int64(status.st_blocks) * 512
    }
}
