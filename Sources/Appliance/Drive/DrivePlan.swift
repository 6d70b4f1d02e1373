import Audio
import Copying
import Core
import Glibc
import Maintenance
import Settings
import System
import Transcripts

/// The state of the drive for laptops, and what must be copied to it.
package struct DrivePlan {
    /// The files beside the image.
    package struct Folder {
        let storage: String

        private var path: String { "\(storage)/drive" }
        var image: String { "\(path)/image" }
        /// What the image holds.
        package var contents: String { DriveContents.path(in: storage) }
        package var ledger: String { "\(path)/ledger" }
    }

    package let archive: RemoteArchive
    package let folder: Folder
    /// What the image holds; nil without one.
    package let held: DriveContents?
    /// The drive's planned content.
    package let contents: DriveContents
    /// The recordings that fit, newest first.
    package let wanted: [Int]
    /// How many recordings do not fit.
    package let leftOut: Int
    package let step: DriveStep
    private let image: Int64
    private let reserve: Int64

    /// - Throws: `DeviceError` with `disconnected` if the appliance is not running, or the error of `recipients(for:)`.
    package init(_ configuration: Configuration) async throws {
        let directory = configuration.storage.directory
        let archive = RemoteArchive(configuration, directory: directory)
        guard (try? await archive.answers) ?? false else {
            throw DeviceError(
                .disconnected, "drive", "the appliance is not running; start it: systemctl start fieldscribe")
        }
        let recipients = try Self.recipients(for: configuration)
        let folder = Folder(storage: directory)
        let reserve = configuration.reserve
        var room = DriveRoom(
            free: try reserve.freeBytes(), held: Self.allocated(folder.image), reserve: reserve.reserveBytes)
        (image, self.reserve) = (room.held, room.reserve)

        let all = try await archive.recordings()
        let ended = all.filter { $0.length > .zero && !$0.isMissing }
        let settings = CopySettings(configuration, volume: "", now: 0)
        let fitting = DriveContents.fitting(ended, in: room.budget) {
            let audio = RecordingFolder(storage: directory, recording: $0.id).audio
            let reader = try? RecordingReader(path: audio)
            let original = try? reader?.original()
            return settings.expectedBytes($0.length, channels: reader?.channels ?? 1) + (original?.bytes ?? 0)
        }
        var contents = DriveContents(
            isSealed: recipients != nil, settings: Self.digest(settings, configuration, recipients))
        for recording in fitting {
            let pass = settings.formats.isEmpty ? nil : try await archive.shownPass(of: recording.id)
            contents.marks[recording.id] = DriveContents.mark(of: recording, pass: pass)
        }
        let isThere = FileStatus(folder.image)?.kind == .file
        let text = isThere ? try? content(ofFile: folder.contents) : nil
        let held = text.flatMap { DriveContents(String(decoding: $0, as: UTF8.self)) }
        if !isThere { room.held = 0 }
        step = contents.step(from: held, existing: Set(all.map(\.id)), room: room)
        (self.archive, self.folder, self.held, self.contents) = (archive, folder, held, contents)
        (wanted, leftOut) = (fitting.map(\.id), ended.count - fitting.count)
    }

    /// The public keys for the drive. It lies on the recorder's own card, so copies of sealed recordings must not be
    /// readable there.
    package static func recipients(for configuration: Configuration) throws(DeviceError) -> [Recipient]? {
        if let recipients = try configuration.recipients() { return recipients }
        return try configuration.sealRecipients()
    }

    /// The space for copies if the card has this many free bytes.
    package func room(free: Int64) -> DriveRoom { DriveRoom(free: free, held: image, reserve: reserve) }

    /// The size of a new, sparse image: that of the disk that holds it, at most 1 TiB.
    package static func imageBytes(_ configuration: Configuration) throws(DeviceError) -> Int64 {
        var status = statvfs()
        guard statvfs(configuration.storage.directory, &status) == 0 else {
            throw .system("statvfs", on: configuration.storage.directory)
        }
        let (bytes, overflows) = Int64(clamping: status.f_blocks).multipliedReportingOverflow(
            by: Int64(clamping: status.f_frsize))
        let most: Int64 = 1 << 40
        return (min(overflows ? most : bytes, most) >> 20) << 20
    }

    /// A digest of all settings that change copies.
    private static func digest(
        _ settings: CopySettings, _ configuration: Configuration, _ recipients: [Recipient]?
    ) -> String {
        let words =
            settings.formats.map(\.rawValue) + [
                settings.audio.rawValue, settings.device.text, configuration.recognizer.punctuation.rawValue,
            ]
        return Digest.of((words + (recipients ?? []).map(\.text)).joined(separator: "\n"))
    }

    /// The bytes that a file occupies on its disk.
    private static func allocated(_ path: String) -> Int64 {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return 0 }
        return Int64(status.st_blocks) * 512
    }
}
