import Audio
import Core
import Glibc
import System

/// Decrypts a sealed recording into a folder in memory (tmpfs). Blocks; used on one thread.
package struct RecordingDecryptor {
    /// The maximum size of a journal in bytes, which is enough for several days of speech.
    private static let maximumJournalBytes: Int64 = 512 << 20

    /// The memory to keep free for the index and other programs, in bytes.
    private static let reserveBytes: Int64 = 8 << 20

    private static let encodedName = "encoded.partial"

    /// Receives the bytes of a file in order.
    private typealias Consumer = (UnsafeRawBufferPointer) throws(DeviceError) -> Void

    private let folder: Folder
    private let manifest: SealedManifest
    private let key: DecryptionKey
    private let age: Age
    private let memory: @Sendable () -> Int64?
    private let shouldContinue: @Sendable () -> Bool

    /// - Parameters:
    ///   - memory: returns the machine's available memory in bytes; nil if unknown.
    ///   - shouldContinue: polled; if false, decryption fails with `ECANCELED`.
    /// - Throws: `DeviceError` with `damaged` if the file is missing or was changed, `missing` if age is not installed.
    package init(
        _ folder: Folder, _ manifest: SealedManifest, key: DecryptionKey,
        memory: @escaping @Sendable () -> Int64? = { MachineMemory.availableBytes },
        shouldContinue: @escaping @Sendable () -> Bool
    ) throws(DeviceError) {
        (self.folder, self.manifest, self.key) = (folder, manifest, key)
        (self.memory, self.shouldContinue) = (memory, shouldContinue)
        age = try Age()
        guard try RecordingSealer.exists(manifest, in: folder) else {
            throw DeviceError(
                .damaged, "age", on: path, "is missing or was changed", remedy: "restore it from a copy or a backup")
        }
    }

    private var path: String { "\(folder.path)/\(RecordingFolder.sealedName)" }

    /// Writes `journal.jsonl` into a folder. Reads only the beginning of the encrypted file, which has the texts.
    ///
    /// - Throws: `DeviceError` with `denied` if the key does not open the file, `damaged` if the file was changed, or
    ///   `full` if there is not enough memory.
    package func writeJournal(into target: Folder) throws(DeviceError) {
        let file = try NewFile("journal.jsonl", in: target, shouldStop: { [shouldContinue] in !shouldContinue() })
        let isFound = try read(until: "journal.jsonl") { name, bytes throws(DeviceError) in
            guard name == "journal.jsonl" else { return nil }
            guard bytes <= Self.maximumJournalBytes else { throw wrongContent }
            // For the journal, for the rows and the index made from it, and for SQLite's temporary copies of these.
            try requireSpace(for: 3 * bytes + Self.reserveBytes, in: target)
            return { bytes throws(DeviceError) in try file.write(bytes, at: file.length) }
        }
        guard isFound else { throw wrongContent }
        try file.sync()
    }

    /// Writes the audio into a folder as `audio.wav`, and beside it the file that the recording was converted from, if
    /// there is one. Reads the whole encrypted file.
    ///
    /// - Parameters:
    ///   - length: the expected length.
    ///   - reason: why the recording ended.
    /// - Throws: the same as `writeJournal(into:)`.
    package func writeAudio(_ length: SamplePosition, _ reason: StopReason, into target: Folder) throws(DeviceError) {
        let shouldStop: @Sendable () -> Bool = { [shouldContinue] in !shouldContinue() }
        defer { try? target.remove(Self.encodedName) }
        let encoded = try NewFile(Self.encodedName, in: target, shouldStop: shouldStop)
        var original: NewFile?
        _ = try read(until: nil) { name, bytes throws(DeviceError) in
            if RecordingFolder.isOriginal(name) {
                try requireSpace(for: bytes, in: target)
                original = try NewFile(name, in: target, shouldStop: shouldStop)
                return { bytes throws(DeviceError) in try original?.write(bytes, at: original?.length ?? 0) }
            }
            guard name.hasPrefix("audio.") else { return nil }
            try requireSpace(for: bytes + length.samples * Frames.bytes(channels: 1), in: target)
            return { bytes throws(DeviceError) in try encoded.write(bytes, at: encoded.length) }
        }
        try original?.flush()
        guard encoded.length > 0 else { throw wrongContent }
        let decoder = try AudioDecoder(encoded, named: path)
        guard 1...2 ~= decoder.channels else { throw wrongContent }
        try requireSpace(for: length.samples * Frames.bytes(channels: decoder.channels), in: target)
        let file = try WaveFile(
            new: "\(target.path)/\(RecordingFolder.audioName)", channels: decoder.channels)
        let samples = UnsafeMutableBufferPointer<Int16>.allocate(capacity: 65_536)
        defer { samples.deallocate() }
        var count: Int64 = 0
        while case let sampleCount = try decoder.read(into: samples), sampleCount > 0 {
            if shouldStop() { throw Copying.interrupted }
            try file.append(UnsafeBufferPointer(rebasing: samples[..<sampleCount]))
            count += Int64(sampleCount)
        }
        try file.close(reason: reason)
        guard count == length.samples * Int64(decoder.channels) else { throw wrongContent }
    }

    /// Checks that there is enough memory in the folder and on the machine: a tmpfs reports half of the memory as free,
    /// even if other programs use it.
    ///
    /// - Throws: `DeviceError` with `full` if there is not.
    private func requireSpace(for bytes: Int64, in target: Folder) throws(DeviceError) {
        let (free, memory) = (try target.freeBytes(), memory() ?? .max)
        guard min(free, memory) > bytes + 1 << 20 else {
            let needed = "opening this recording needs \(bytes / 1_000_000 + 1) MB of memory"
            throw DeviceError(
                .full, "statvfs", status: ENOSPC, cause: .memory, on: target.path,
                memory < free
                    ? "\(needed), but only \(memory / 1_000_000) MB of this machine's memory are free"
                    : "\(needed) there, but only \(free / 1_000_000) MB are free", remedy: "open it on a laptop")
        }
    }

    /// Decrypts the file.
    ///
    /// - Parameters:
    ///   - last: the name of the last file to read; nil to read all files.
    ///   - open: called with the name and length of each file; returns nil to skip the file.
    /// - Returns: whether the file `last` was found.
    private func read(
        until last: String?, open: @escaping (String, Int64) throws(DeviceError) -> Consumer?
    ) throws(DeviceError) -> Bool {
        var isFound = false
        var hasAll = false
        var digest = Digest()
        var decrypted: Int64 = 0
        var handlerError: DeviceError?
        var tar = TarParser()
        var consumer: Consumer?
        func handle(_ event: TarParser.Event) throws(DeviceError) {
            switch event {
            case .file(let name, let size):
                // The next file begins here, so the file `last` is complete.
                if isFound {
                    hasAll = true
                    throw Self.finishedEarly
                }
                isFound = name == last
                consumer = try open(name, size)
            case .bytes(let bytes): try consumer?(bytes)
            case .end: consumer = nil
            }
        }
        let decryptor = try age.decryptor(with: key) { bytes throws(DeviceError) in
            decrypted += Int64(bytes.count)
            do throws(DeviceError) {
                try tar.parse(bytes) { event throws(DeviceError) in
                    do throws(DeviceError) { try handle(event) } catch {
                        handlerError = error
                        throw error
                    }
                }
            } catch {
                // If the error is not from `handle`, the content is not a tar archive.
                handlerError = handlerError ?? wrongContent
                throw error
            }
        }
        do throws(DeviceError) {
            let file = try folder.openFile(RecordingFolder.sealedName, O_RDONLY)
            try file.forEachBlock { bytes throws(DeviceError) in
                if !shouldContinue() { throw Copying.interrupted }
                digest.add(bytes)
                try decryptor.write(bytes)
            }
            try decryptor.finish()
        } catch {
            if hasAll { return true }
            if let handlerError { throw handlerError }
            guard error.cause == .age else { throw error }
            throw decrypted == 0
                ? DeviceError(.denied, "age", on: path, "is sealed for another key")
                : DeviceError(
                    .damaged, "age", on: path, "age rejects it after \(decrypted) bytes: it was changed",
                    remedy: "restore it from a copy or a backup")
        }
        guard tar.isWhole, digest.finish() == manifest.file else { throw wrongContent }
        return isFound
    }

    /// Thrown to stop the decryption after the file `last`.
    private static let finishedEarly = DeviceError(.failed, "age", "finished early")

    private var wrongContent: DeviceError {
        DeviceError(.damaged, "age", on: path, "does not contain this recording as it was sealed")
    }
}
