import Core
import Glibc
import System

/// Adds audio files to an archive. The program `fieldscribe` makes recordings of them in a temporary archive, which is
/// gathered and removed.
package struct OfficeAdding {
    /// The recorder's name in the archive.
    private static let recorder = "desk"

    private let archive: any OfficeArchive
    private let program: String

    /// - Parameter named: the path of the `fieldscribe` program; nil to search for it.
    /// - Throws: `DeviceError` with `missing` without that program.
    package init(into archive: any OfficeArchive, program named: String?) throws(DeviceError) {
        self.archive = archive
        program = try ReadingProgram.find(named)
    }

    /// Returns the recordings that were made from files, by the SHA-256 of the file.
    package func known() throws(DeviceError) -> [String: Int] {
        var known: [String: Int] = [:]
        for recording in try archive.recordings(OfficeFilter()) {
            let added = try archive.history(of: recording.id).map(\.entry).last { $0.act == .added }
            if let digest = added?.digest { known[digest] = recording.id }
        }
        return known
    }

    /// Returns the SHA-256 of a file; nil for anything else, which may be readable only once.
    package static func digest(of path: String) throws(DeviceError) -> String? {
        guard let real = try? realPath(path), FileStatus(real)?.kind == .file else { return nil }
        var digest = Digest()
        try FileDescriptor(opening: path, O_RDONLY).forEachBlock { bytes in digest.add(bytes) }
        return digest.finish()
    }

    /// Adds files; the program prints a line for each file that it rejects.
    ///
    /// - Returns: the added recordings, and the exit status of the program.
    /// - Throws: `CancellationError` if a signal asked the process to exit; `DeviceError` if the archive cannot be written.
    package func add(_ paths: [String]) throws -> (report: GatherReport, status: Int32) {
        let scratch = try ScratchFolder(for: "office-add", in: ScratchFolder.roomyParent)
        let folder = "\(scratch.path)/\(Self.recorder)"
        var (output, status) = ([UInt8](), Int32(0))
        try ReadingProgram.ask(
            program, ["add", "--directory", folder, "--"] + paths, takes: &output, &status
        ) { () throws(DeviceError) in !Interrupts.isRequested }
        if Interrupts.isRequested { throw CancellationError() }
        guard RecorderArchive.isArchive(folder), try !names(inFolder: "\(folder)/recordings").isEmpty else {
            return (GatherReport(), status)
        }
        return (try Gathering(into: archive, key: nil).run([.folder(folder)]), status)
    }
}
