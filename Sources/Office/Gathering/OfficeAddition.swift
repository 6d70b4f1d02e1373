import Core
import Glibc
import System

/// Adds audio files to an archive. Runs `fieldscribe add` with a temporary archive, gathers that archive and removes it.
package struct OfficeAddition {
    /// The recorder's name in the archive.
    private static let recorderName = "desk"

    private let archive: any OfficeArchive
    private let program: String

    /// - Parameter path: the path of the `fieldscribe` program; nil to search for it.
    /// - Throws: `DeviceError` with `missing` if there is no such program.
    package init(into archive: any OfficeArchive, program path: String?) throws(DeviceError) {
        self.archive = archive
        program = try TranscriptionProgram.find(path)
    }

    /// Returns the IDs of recordings that were made from audio files, by the file's SHA-256.
    package func recordingsByDigest() throws(DeviceError) -> [String: Int] {
        var recordings: [String: Int] = [:]
        for recording in try archive.recordings(OfficeFilter()) {
            let added = try archive.history(of: recording.id).map(\.entry).last { $0.act == .added }
            if let digest = added?.digest { recordings[digest] = recording.id }
        }
        return recordings
    }

    /// Returns the SHA-256 of a regular file; nil for anything else, such as a pipe, which can be read only once.
    package static func digest(of path: String) throws(DeviceError) -> String? {
        guard FileStatus(target: path)?.kind == .file else { return nil }
        return try Digest.of(FileDescriptor(opening: path, O_RDONLY))
    }

    /// Adds files.
    ///
    /// - Parameter showsMessages: whether the program prints its messages, such as a line for each rejected file; if false,
    ///   they are returned instead.
    /// - Returns: the result of gathering, and the program's exit status and messages.
    /// - Throws: `CancellationError` if a signal asked the process to exit; `DeviceError` if the program cannot run or
    ///   the archive cannot be written.
    package func add(
        _ paths: [String], showsMessages: Bool = true
    ) throws -> (report: GatherReport, status: Int32, messages: [String]) {
        let scratch = try ScratchFolder(for: "office-add", in: ScratchFolder.parentForLargeFiles)
        let folder = "\(scratch.path)/\(Self.recorderName)"
        let shell = showsMessages ? [] : ["-c", "exec \"$0\" \"$@\" 2>&1", program]
        let arguments = shell + ["add", "--directory", folder, "--"] + paths
        let (output, status) = try TranscriptionProgram.run(showsMessages ? program : "/bin/sh", arguments) {
            () throws(DeviceError) in !Interrupts.isRequested
        }
        if Interrupts.isRequested { throw CancellationError() }
        let prefix = "fieldscribe: "
        let messages = String(decoding: output, as: UTF8.self).split(separator: "\n").filter { $0.hasPrefix(prefix) }
            .map { String($0.dropFirst(prefix.count)) }
        guard RecorderArchive.isArchive(folder), try !names(inFolder: "\(folder)/recordings").isEmpty else {
            return (GatherReport(archive: archive.name), status, messages)
        }
        return (try Gathering(into: archive, key: nil).run([.folder(folder)]), status, messages)
    }
}
