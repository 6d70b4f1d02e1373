import Core
import Glibc
import System

/// The name of a copy's folder or file on a volume.
protocol CopyNaming: Hashable, Sendable {
    init?(_ text: String)
    var text: String { get }
    var recording: Int { get }
    /// 1 for the recording's first copy.
    var copyNumber: Int { get set }
}

extension CopyNaming {
    var next: Self {
        var next = self
        next.copyNumber += 1
        return next
    }
}

/// Writes copies of one recording, either as readable folders or as encrypted files. Blocks; used on one thread.
protocol CopyWriter: Sendable {
    associatedtype Name: CopyNaming

    var firstName: Name { get }

    /// Compares the recording with a copy that the ledger lists. May update the copy's texts in place.
    mutating func examine(_ copy: KnownCopies<Name>.Copy) throws(DeviceError) -> ExaminedCopy<Name>

    /// Returns the copy with this name if it is a complete copy of the recording, although the ledger does not list it.
    func recognize(_ name: Name) throws(DeviceError) -> PlacedCopy<Name>?

    /// Returns a generous estimate of a new copy's size in bytes. Called before `write`.
    mutating func expectedBytes() throws(DeviceError) -> Int64

    /// Writes a new copy under a temporary name, syncs it, and reads it back from the volume.
    func write(as temporary: String) throws(DeviceError) -> WrittenCopy
}

extension CopyWriter {
    func recognize(_ name: Name) throws(DeviceError) -> PlacedCopy<Name>? { nil }
}

/// The result of comparing a copy in the ledger with its recording.
enum ExaminedCopy<Name: CopyNaming> {
    case current(PlacedCopy<Name>)
    /// A new copy should replace this one.
    case replaceable
    /// The copy is missing, or a new one should be written beside it.
    case unusable
}

/// A copy that was written and read back, but does not have its final name yet.
struct WrittenCopy {
    /// The manifest in the form that the ledger stores.
    var manifest: String
    var bytes: Int64
    var isDirect: Bool
}

/// A complete copy on the volume.
struct PlacedCopy<Name: CopyNaming>: Sendable {
    /// The name in the ledger.
    var name: Name
    /// The current name of the folder if a person has renamed it.
    var renamed: String?
    var isNew = false
    /// Whether the copy replaced an older one with the same name.
    var hasReplaced = false
    var bytes: Int64 = 0
    var isDirect = true
    /// The manifest, if the ledger does not list it yet.
    var manifest: String?
    /// The ledger's entry, if the copy was already there.
    var entry: ExportEntry?

    var nameOnVolume: String { renamed ?? name.text }
}

/// Finds or makes the copy of one recording in a folder. A copy gets its final name only when it is complete. Blocks.
struct Placement<Writer: CopyWriter> {
    private var writer: Writer
    private let folder: CopyFolder
    private let known: KnownCopies<Writer.Name>

    init(_ writer: Writer, in folder: CopyFolder, known: KnownCopies<Writer.Name>) {
        (self.writer, self.folder, self.known) = (writer, folder, known)
    }

    /// Writes a copy unless there is a current one.
    mutating func run() throws(DeviceError) -> PlacedCopy<Writer.Name> {
        var replaced: Writer.Name?
        for copy in known.latest(of: writer.firstName.recording) {
            switch try writer.examine(copy) {
            case .current(let placed): return placed
            case .replaceable: replaced = replaced ?? copy.name
            case .unusable: continue
            }
        }
        return try place(replacing: replaced)
    }

    private mutating func place(replacing replaced: Writer.Name?) throws(DeviceError) -> PlacedCopy<Writer.Name> {
        var name = replaced ?? writer.firstName
        while replaced == nil, try folder.folder.exists(name.text) {
            // The ledger may lack a complete copy, because power was lost before the last step, or the ledger is new.
            if !known.names.contains(name), let found = try writer.recognize(name) { return found }
            name = name.next
        }
        try checkSpace(for: try writer.expectedBytes())
        let temporary = try folder.unusedTemporaryName()
        var hasName = false
        do throws(DeviceError) {
            let writtenCopy = try writer.write(as: temporary)
            if replaced != nil {
                try folder.folder.rename(temporary, replacing: name.text)
            } else {
                name = try rename(temporary, from: name)
                hasName = true
            }
            try folder.folder.sync()
            try folder.folder.syncFileSystem()
            return PlacedCopy(
                name: name, isNew: true, hasReplaced: replaced != nil, bytes: writtenCopy.bytes,
                isDirect: writtenCopy.isDirect, manifest: writtenCopy.manifest)
        } catch {
            // If this fails, the next copy run removes the temporary copy.
            _ = try? folder.clear(temporary)
            // A readable copy stays, because the next copy run can recognize it.
            if hasName, folder.isEncrypted { try? folder.folder.remove(name.text) }
            guard error.status == EFBIG else { throw error }
            throw DeviceError(
                .full, error.operation, status: EFBIG, on: folder.folder.path,
                "the target cannot store such a large file (FAT limits files to 4 GiB)",
                remedy: "use a stick with exFAT or ext4, or export.audio = flac")
        }
    }

    private func rename(_ temporary: String, from first: Writer.Name) throws(DeviceError) -> Writer.Name {
        var name = first
        while true {
            do throws(DeviceError) {
                try folder.folder.rename(temporary, toUnused: name.text)
                return name
            } catch {
                guard [EEXIST, ENOTEMPTY].contains(error.status) else { throw error }
                name = name.next
            }
        }
    }

    private func checkSpace(for needed: Int64) throws(DeviceError) {
        let free = try folder.folder.freeBytes()
        guard free < needed else { return }
        func megabytes(_ bytes: Int64) -> String { "\(max(1, bytes / 1_000_000)) MB" }
        throw DeviceError(
            .full, "statvfs", status: ENOSPC, on: folder.folder.path,
            "recording \(writer.firstName.recording) needs about \(megabytes(needed)), but only \(megabytes(free)) are free",
            remedy: "free space there or use another stick")
    }
}

extension DeviceError {
    /// Whether the volume is no longer writable, so that all remaining recordings would fail, too.
    var stopsCopying: Bool { [EIO, ENODEV, ENXIO, EROFS].contains(status) }
}
