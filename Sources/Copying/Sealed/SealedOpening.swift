import Audio
import Core
import Glibc
import System

/// Decrypts a sealed recording into a folder in memory. Blocks; used on one thread.
package struct SealedOpening {
    /// The maximum size of a journal in bytes: several days of speech.
    private static let longestJournal: Int64 = 512 << 20

    /// Bytes of memory to keep free for the index and other programs.
    private static let spare: Int64 = 8 << 20

    private static let encoded = "encoded.partial"

    /// Receives a file's bytes in order.
    private typealias Take = (UnsafeRawBufferPointer) throws(DeviceError) -> Void

    private let folder: Folder
    private let manifest: SealedManifest
    private let key: OpeningKey
    private let age: Age
    private let memory: @Sendable () -> Int64?
    private let shouldContinue: @Sendable () -> Bool

    /// - Parameters:
    ///   - memory: returns the machine's available bytes; nil if unknown.
    ///   - shouldContinue: polled; if false, opening ends with `ECANCELED`.
    /// - Throws: `DeviceError` with `damaged` if the file is gone or changed, `missing` without age.
    package init(
        _ folder: Folder, _ manifest: SealedManifest, key: OpeningKey,
        memory: @escaping @Sendable () -> Int64? = { MachineMemory.availableBytes },
        shouldContinue: @escaping @Sendable () -> Bool
    ) throws(DeviceError) {
        (self.folder, self.manifest, self.key) = (folder, manifest, key)
        (self.memory, self.shouldContinue) = (memory, shouldContinue)
        age = try Age()
        guard try RecordingSealer.isThere(manifest, in: folder) else {
            throw DeviceError(
                .damaged, "age", on: path, "is gone or was changed", remedy: "put it back from a copy or a backup")
        }
    }

    private var path: String { "\(folder.path)/\(RecordingFolder.sealedName)" }

    /// Writes `journal.jsonl` into a folder. Reads only the beginning of the encrypted file, which has the texts.
    ///
    /// - Throws: `DeviceError` with `denied` if the key does not open it, `damaged` if it was changed, `full`.
    package func journal(into target: Folder) throws(DeviceError) {
        let file = try NewFile("journal.jsonl", in: target, shouldStop: { [shouldContinue] in !shouldContinue() })
        let isThere = try read(until: "journal.jsonl") { name, bytes throws(DeviceError) in
            guard name == "journal.jsonl" else { return nil }
            guard bytes <= Self.longestJournal else { throw foreign }
            // The journal, its rows and index, and SQLite's own copies of both.
            try expectRoom(for: 3 * bytes + Self.spare, in: target)
            return { part throws(DeviceError) in try file.write(part, at: file.length) }
        }
        guard isThere else { throw foreign }
        try file.sync()
    }

    /// Writes the sound into a folder as `audio.wav`, and beside it the file that it was converted from, if any. Reads the
    /// whole encrypted file.
    ///
    /// - Parameters:
    ///   - length: the expected length.
    ///   - reason: why the recording ended.
    /// - Throws: as `journal`.
    package func sound(_ length: SamplePosition, _ reason: StopReason, into target: Folder) throws(DeviceError) {
        let stops: @Sendable () -> Bool = { [shouldContinue] in !shouldContinue() }
        defer { try? target.remove(Self.encoded) }
        let encoded = try NewFile(Self.encoded, in: target, shouldStop: stops)
        var original: NewFile?
        _ = try read(until: nil) { name, bytes throws(DeviceError) in
            if RecordingFolder.isOriginal(name) {
                try expectRoom(for: bytes, in: target)
                original = try NewFile(name, in: target, shouldStop: stops)
                return { part throws(DeviceError) in try original?.write(part, at: original?.length ?? 0) }
            }
            guard name.hasPrefix("audio.") else { return nil }
            try expectRoom(for: bytes + length.samples * Frames.bytes(channels: 1), in: target)
            return { part throws(DeviceError) in try encoded.write(part, at: encoded.length) }
        }
        try original?.flush()
        guard encoded.length > 0 else { throw foreign }
        let decoder = try AudioDecoder(encoded, named: path)
        guard 1...2 ~= decoder.channels else { throw foreign }
        try expectRoom(for: length.samples * Frames.bytes(channels: decoder.channels), in: target)
        let file = try WaveFile(
            new: "\(target.path)/\(RecordingFolder.audioName)", channels: decoder.channels)
        let samples = UnsafeMutableBufferPointer<Int16>.allocate(capacity: 65_536)
        defer { samples.deallocate() }
        var count: Int64 = 0
        while case let read = try decoder.read(into: samples), read > 0 {
            if stops() { throw Copying.interrupted }
            try file.append(UnsafeBufferPointer(rebasing: samples[..<read]))
            count += Int64(read)
        }
        try file.close(reason: reason)
        guard count == length.samples * Int64(decoder.channels) else { throw foreign }
    }

    /// Throws `full` without enough memory: a tmpfs reports half of the memory as free, even if other programs use it.
    private func expectRoom(for bytes: Int64, in target: Folder) throws(DeviceError) {
        let (free, memory) = (try target.freeBytes(), memory() ?? .max)
        guard min(free, memory) > bytes + 1 << 20 else {
            let needed = "opening this recording needs \(bytes / 1_000_000 + 1) MB of memory"
            throw DeviceError(
                .full, "statvfs", status: ENOSPC, cause: .memory, on: target.path,
                memory < free
                    ? "\(needed), but only \(memory / 1_000_000) MB of this machine's memory are free"
                    : "\(needed) there, \(free / 1_000_000) MB are free", remedy: "open it on a laptop")
        }
    }

    /// Decrypts the file.
    ///
    /// - Parameters:
    ///   - last: stops after the file of this name; nil reads all.
    ///   - open: called with the name and length of each file.
    /// - Returns: whether that file was found.
    private func read(
        until last: String?, open: @escaping (String, Int64) throws(DeviceError) -> Take?
    ) throws(DeviceError) -> Bool {
        var isFound = false
        var hasAll = false
        var digest = Digest()
        var decrypted: Int64 = 0
        var refusal: DeviceError?
        var tar = TarReading()
        var take: Take?
        func handle(_ event: TarReading.Event) throws(DeviceError) {
            switch event {
            case .file(let name, let bytes):
                // The next file has begun, so the wanted one is complete.
                if isFound {
                    hasAll = true
                    throw Self.enough
                }
                isFound = name == last
                take = try open(name, bytes)
            case .bytes(let piece): try take?(piece)
            case .end: take = nil
            }
        }
        let opener = try age.opener(with: key) { bytes throws(DeviceError) in
            decrypted += Int64(bytes.count)
            do throws(DeviceError) {
                try tar.take(bytes) { event throws(DeviceError) in
                    do throws(DeviceError) { try handle(event) } catch {
                        refusal = error
                        throw error
                    }
                }
            } catch {
                // Without an error of `handle`, it is not a tar archive.
                refusal = refusal ?? foreign
                throw error
            }
        }
        do throws(DeviceError) {
            let file = try folder.openFile(RecordingFolder.sealedName, O_RDONLY)
            try file.forEachBlock { bytes throws(DeviceError) in
                if !shouldContinue() { throw Copying.interrupted }
                digest.add(bytes)
                try opener.write(bytes)
            }
            try opener.finish()
        } catch {
            if hasAll { return true }
            if let refusal { throw refusal }
            guard error.cause == .age else { throw error }
            throw decrypted == 0
                ? DeviceError(.denied, "age", on: path, "is sealed for another key")
                : DeviceError(
                    .damaged, "age", on: path, "age refuses it after \(decrypted) bytes: it was changed",
                    remedy: "put it back from a copy or a backup")
        }
        guard tar.isWhole, digest.finish() == manifest.file else { throw foreign }
        return isFound
    }

    /// Ends the decryption early.
    private static let enough = DeviceError(.failed, "age", "enough")

    private var foreign: DeviceError {
        DeviceError(.damaged, "age", on: path, "does not contain this recording as it was sealed")
    }
}
