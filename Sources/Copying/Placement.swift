import Core
import Glibc
import System

/// The name of a copy on a volume.
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

/// Writes copies of one recording in one form: readable folders or encrypted files. Blocks; used on one thread.
protocol CopyWriter: Sendable {
    associatedtype Name: CopyNaming

    var firstName: Name { get }

    /// Compares a copy that the ledger lists with the recording. May update its texts in place.
    mutating func examine(_ copy: KnownCopies<Name>.Copy) throws(DeviceError) -> ExaminedCopy<Name>

    /// Returns a complete copy of the current recording that the ledger does not list.
    func recognize(_ name: Name) throws(DeviceError) -> PlacedCopy<Name>?

    /// Returns an upper bound of the bytes that a new copy needs. Called before `write`.
    mutating func expectedBytes() throws(DeviceError) -> Int64

    /// Writes a new copy under a temporary name, syncs it, and reads it back past the cache.
    func write(as temporary: String) throws(DeviceError) -> WrittenCopy
}

extension CopyWriter {
    func recognize(_ name: Name) throws(DeviceError) -> PlacedCopy<Name>? { nil }
}

/// The result of comparing a known copy with its recording.
enum ExaminedCopy<Name: CopyNaming> {
    case current(PlacedCopy<Name>)
    /// The new copy replaces this one.
    case replaceable
    /// Missing, or stays beside the new copy.
    case unusable
}

/// A copy that was written and read back, before it has its name.
struct WrittenCopy {
    /// The manifest as the ledger stores it.
    var manifest: String
    var bytes: Int64
    var isDirect: Bool
}

/// A complete copy on the volume.
struct PlacedCopy<Name: CopyNaming>: Sendable {
    /// The name in the ledger.
    var name: Name
    /// The folder's name if a person has renamed it.
    var renamed: String?
    var isNew = false
    /// Whether it replaced an older copy of the same name.
    var hasReplaced = false
    var bytes: Int64 = 0
    var isDirect = true
    /// The manifest that the ledger does not list yet.
    var manifest: String?
    /// The ledger's entry of a copy that was already there.
    var entry: ExportEntry?

    /// The name on the volume.
    var place: String { renamed ?? name.text }
}

/// Finds or makes the copy of one recording in a folder: it is complete under its final name, or absent. Blocks.
struct Placement<Writer: CopyWriter> {
    private var writer: Writer
    private let folder: CopyFolder
    private let known: KnownCopies<Writer.Name>

    /// - Parameter known: the ledger's entries for this volume.
    init(_ writer: Writer, in folder: CopyFolder, known: KnownCopies<Writer.Name>) {
        (self.writer, self.folder, self.known) = (writer, folder, known)
    }

    /// Writes a copy unless a current one is there.
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
            // Complete but not in the ledger: power was lost before the last step, or the ledger is new.
            if !known.names.contains(name), let found = try writer.recognize(name) { return found }
            name = name.next
        }
        try checkRoom(for: try writer.expectedBytes())
        let temporary = try folder.freeTemporary()
        var hasName = false
        do throws(DeviceError) {
            let written = try writer.write(as: temporary)
            if replaced != nil {
                try folder.folder.rename(temporary, replacing: name.text)
            } else {
                name = try rename(temporary, from: name)
                hasName = true
            }
            try folder.folder.sync()
            try folder.folder.syncFileSystem()
            return PlacedCopy(
                name: name, isNew: true, hasReplaced: replaced != nil, bytes: written.bytes,
                isDirect: written.isDirect, manifest: written.manifest)
        } catch {
            // If this fails too, the next copy removes the temporary. A readable copy with its final name is then
            // recognized.
            _ = try? folder.clear(temporary)
            if hasName, folder.isEncrypted { try? folder.folder.remove(name.text) }
            guard error.status == EFBIG else { throw error }
            throw DeviceError(
                .full, error.operation, status: EFBIG, on: folder.folder.path,
                "the target cannot store a file that long (FAT is limited to 4 GiB)",
                remedy: "use a stick with exFAT or ext4, or export.audio = flac")
        }
    }

    /// Gives a copy the first free name.
    private func rename(_ temporary: String, from first: Writer.Name) throws(DeviceError) -> Writer.Name {
        var name = first
        while true {
            do throws(DeviceError) {
                try folder.folder.rename(temporary, toFree: name.text)
                return name
            } catch {
                guard [EEXIST, ENOTEMPTY].contains(error.status) else { throw error }
                name = name.next
            }
        }
    }

    private func checkRoom(for needed: Int64) throws(DeviceError) {
        let free = try folder.folder.freeBytes()
        guard free < needed else { return }
        func megabytes(_ bytes: Int64) -> String { "\(max(1, bytes / 1_000_000)) MB" }
        throw DeviceError(
            .full, "statvfs", status: ENOSPC, on: folder.folder.path,
            "recording \(writer.firstName.recording) needs about \(megabytes(needed)), \(megabytes(free)) are free",
            remedy: "free space there or use another stick")
    }
}

extension DeviceError {
    /// Whether the volume is gone, so that the other recordings fail too.
    var endsCopies: Bool { [EIO, ENODEV, ENXIO, EROFS].contains(status) }
}
