import Audio
import Core
import Glibc
import System
import Transcripts

/// Verifies on any machine that a copy is unaltered. Checks its files against SHA256SUMS, the recorder's signatures of
/// SHA256SUMS and of the sound, and that each entry of the history follows from the previous one. Blocks; changes
/// nothing.
package struct CopyVerification {
    /// The result for one file, or for the whole copy.
    package struct Finding: Hashable, Sendable {
        /// The outcome of a check.
        package enum Outcome: String, Sendable {
            case unaltered, altered, missing
            /// The file could not be verified, which is no sign of a fault.
            case unchecked
            case note
        }

        package var outcome: Outcome
        package var file: String
        package var detail: String
        /// The key that signed the copy; nil unless the finding reports the copy's valid signature.
        var key: String?

        init(_ outcome: Outcome, _ file: String, _ detail: String = "", key: String? = nil) {
            (self.outcome, self.file, self.detail, self.key) = (outcome, file, detail, key)
        }

        package var line: String { "\(outcome.rawValue): \(file)\(detail.isEmpty ? "" : ": \(detail)")" }
    }

    private let key: String?

    /// - Parameter key: the recorder's public key; nil to accept the key in the copy itself.
    package init(key: String?) { self.key = key }

    private static let maximumBytes = 1 << 20
    static let maximumFiles = 100_000

    private static let keyHint = "compare this key with the one that fieldscribe status shows on the recorder"
    private static let noCopy = "this is not a copy of a recording, or only part of one"

    /// Verifies a copy, or all copies in a folder and its subfolders, regardless of their names.
    ///
    /// - Throws: `DeviceError` if the folder itself cannot be read.
    package func run(_ path: String) throws(DeviceError) -> [Finding] {
        let folder = try Folder(opening: withoutTrailingSlash(path))
        let found = try CopySearch(in: folder)
        var findings: [Finding] = []
        for path in found.paths {
            do throws(DeviceError) {
                findings += verify(try folder.folder(along: path))
            } catch { findings.append(Self.failure("\(folder.path)/\(path)", error)) }
        }
        if findings.isEmpty {
            findings.append(Finding(.missing, "\(folder.path)/\(CopySettings.manifestName)", Self.noCopy))
        }
        return findings + found.findings
    }

    /// Summarizes findings in one line, such as `127 files of 9 recordings unaltered, signed by RW...`.
    package func summary(_ findings: [Finding]) -> String {
        func files(_ outcomes: Finding.Outcome...) -> Set<String> {
            Set(findings.filter { outcomes.contains($0.outcome) }.map(\.file))
        }
        let (altered, missing) = (files(.altered), files(.missing))
        let unaltered = files(.unaltered).subtracting(altered).subtracting(missing)
        // An encrypted copy is a single file; every other copy has its own folder.
        let recordings = Set(
            unaltered.union(altered).map { path in
                let components = path.split(separator: "/", omittingEmptySubsequences: false)
                let isSealed = components.last.map { SealedName(String($0)) != nil } ?? false
                return isSealed ? path : components.dropLast().joined(separator: "/")
            })
        var parts = [Self.count(unaltered.count, of: recordings.count) + " unaltered"]
        for (count, label) in [
            (altered.count, "altered"), (missing.count, "missing"), (files(.unchecked).count, "not checked"),
        ] where count > 0 { parts.append("\(count) \(label)") }
        let keys = Set(findings.compactMap(\.key)).sorted()
        if !keys.isEmpty {
            parts.append("signed by \(keys.joined(separator: " and "))\(key == nil ? "; \(Self.keyHint)" : "")")
        }
        return parts.joined(separator: ", ")
    }

    /// Returns a count, such as `127 files of 9 recordings`.
    package static func count(_ files: Int, of recordings: Int) -> String {
        "\(counted(files, "file", "files")) of \(counted(recordings, "recording", "recordings"))"
    }

    private func verify(_ folder: Folder) -> [Finding] {
        let sums = "\(folder.path)/\(CopySettings.manifestName)"
        var findings: [Finding] = []
        do throws(DeviceError) {
            guard try folder.exists(CopySettings.manifestName) else { return [Finding(.missing, sums, Self.noCopy)] }
            let bytes = try folder.content(ofFile: CopySettings.manifestName, limit: Self.maximumBytes)
            guard let text = String(validating: bytes, as: UTF8.self), let digests = Manifest(reading: text)?.digests,
                !digests.isEmpty
            else { return [Finding(.altered, sums, "is not in the format that a recorder writes")] }
            if digests.keys.allSatisfy({ SealedName($0) != nil }) {
                let advice = "sealed copies contain their signatures; to verify one, decrypt it with the private key"
                findings.append(Finding(.unchecked, sums, advice))
            } else {
                findings.append(signature(of: bytes, in: folder))
            }
            for (name, digest) in digests.sorted(by: { $0.key < $1.key }) {
                findings.append(Self.file(name, digest, in: folder))
            }
            let known = Set(digests.keys).union([CopySettings.manifestName, CopySettings.signatureName])
            for name in try folder.names(limit: Self.maximumFiles).sorted() where !known.contains(name) {
                findings.append(Finding(.note, "\(folder.path)/\(name)", "was added later"))
            }
            if digests[historyFileName] != nil { findings += history(in: folder, Set(digests.keys)) }
        } catch { findings.append(Self.failure(sums, error)) }
        return findings
    }

    private static func failure(_ path: String, _ error: DeviceError) -> Finding {
        error.status == ENOENT ? Finding(.missing, path) : Finding(.altered, error.subject ?? path, error.reason)
    }

    private static func file(_ name: String, _ digest: String, in folder: Folder) -> Finding {
        let path = "\(folder.path)/\(name)"
        do throws(DeviceError) {
            return try readBack(name, in: folder).finish() == digest
                ? Finding(.unaltered, path) : Finding(.altered, path, "does not match its checksum")
        } catch { return failure(path, error) }
    }

    /// Accepts only regular files, because opening a FIFO would block.
    private static func readBack(_ name: String, in folder: Folder) throws(DeviceError) -> ReadBack {
        _ = try folder.openFile(name, O_RDONLY)
        return try ReadBack(name, in: folder, shouldStop: { false })
    }

    // MARK: signatures

    /// Checks a copy's signature.
    ///
    /// - Parameters:
    ///   - sums: the content of the copy's SHA256SUMS.
    ///   - folder: the folder with the signature and the public key.
    package func signature(of sums: [UInt8], in folder: Folder) -> Finding {
        let path = "\(folder.path)/\(CopySettings.signatureName)"
        do throws(DeviceError) {
            guard try folder.exists(CopySettings.signatureName) else {
                return Finding(
                    .missing, path,
                    "the copy is not signed: anyone who changed a file could also have changed its checksum")
            }
            let signature = try folder.content(ofFile: CopySettings.signatureName, limit: Minisign.maximumFileBytes)
            guard let key = try expectedKey(in: folder) else {
                return Finding(
                    .missing, "\(folder.path)/\(CopySettings.publicKeyName)",
                    "pass the recorder's key with --key; fieldscribe status shows it on the recorder")
            }
            if let comment = try Minisign().comment(of: sums, signature: signature, key: key) {
                let hint = self.key == nil ? "; \(Self.keyHint)" : ""
                return Finding(
                    .unaltered, "\(folder.path)/\(CopySettings.manifestName)",
                    "signed by \(key) (\(Self.line(comment)))\(hint)", key: key)
            }
            let copiedKey = try? Self.key(in: folder)
            if self.key != nil, let copiedKey, copiedKey != key,
                try Minisign().comment(of: sums, signature: signature, key: copiedKey) != nil
            {
                return Finding(.altered, path, "was made by another recorder, whose key is \(copiedKey), not \(key)")
            }
            return Finding(.altered, path, "is not a valid signature of \(CopySettings.manifestName) by the key \(key)")
        } catch {
            guard error.cause == .minisign else { return Self.failure(path, error) }
            return Finding(.unchecked, path, "\(error.reason); \(error.remedy ?? "")")
        }
    }

    private func expectedKey(in folder: Folder) throws(DeviceError) -> String? {
        if let key { return key }
        return try Self.key(in: folder)
    }

    private static func key(in folder: Folder) throws(DeviceError) -> String? {
        guard try folder.exists(CopySettings.publicKeyName) else { return nil }
        let bytes = try folder.content(ofFile: CopySettings.publicKeyName, limit: Minisign.maximumFileBytes)
        return RecorderKey.key(in: String(decoding: bytes, as: UTF8.self))
    }

    private static func line(_ text: String) -> String { String(oneLine(text).prefix(200)) }

    // MARK: history and sound

    private func history(in folder: Folder, _ names: Set<String>) -> [Finding] {
        let path = "\(folder.path)/\(historyFileName)"
        do throws(DeviceError) {
            let bytes = try folder.content(ofFile: historyFileName, limit: Self.maximumBytes * 64)
            guard let lines = historyLines(in: String(decoding: bytes, as: UTF8.self)) else {
                return [Finding(.altered, path, "is not a valid history")]
            }
            if let number = Self.brokenEntry(of: lines) {
                let detail =
                    "entry \(number) does not follow from the previous one: an entry was changed or is missing"
                return [Finding(.altered, path, detail)]
            }
            return try checkSound(lines.map(\.entry), in: folder, names)
        } catch { return error.status == ENOENT ? [] : [Self.failure(path, error)] }
    }

    /// Returns the number of the first entry that does not follow from the previous one; nil if all do.
    package static func brokenEntry(of lines: [HistoryLine]) -> Int? {
        zip([nil] + lines.map(Optional.some), lines).first { previous, line in
            line.entry.own != previous.map { Digest.of($0.text) } || line.entry.recording != lines[0].entry.recording
        }?.1.entry.number
    }

    /// Compares the sound with the digest that was signed after the recording was closed or redacted.
    private func checkSound(
        _ entries: [HistoryEntry], in folder: Folder, _ names: Set<String>
    ) throws(DeviceError) -> [Finding] {
        guard let name = AudioFormat.allCases.map(\.fileName).first(where: names.contains) else { return [] }
        let path = "\(folder.path)/\(name)"
        guard let signed = entries.soundSignature, let signedDigest = signed.sound else {
            return [Finding(.note, path, "when this was copied, the recorder had not yet signed the sound")]
        }
        do throws(DeviceError) {
            guard let key = try expectedKey(in: folder) else { return [] }
            guard try Minisign().verifies(signed, key: key) else {
                let detail = "the signature in entry \(signed.number) is not valid for the key \(key)"
                return [Finding(.altered, "\(folder.path)/\(historyFileName)", detail)]
            }
        } catch {
            guard error.cause == .minisign else { throw error }
            // `signature(of:in:)` reports this.
            return []
        }
        let foundDigest: String
        do throws(DeviceError) {
            foundDigest = try AudioDecoder(try Self.readBack(name, in: folder), named: path).soundDigest()
        } catch {
            return [Finding(.altered, path, "its sound cannot be read: \(error.reason)")]
        }
        guard foundDigest == signedDigest else {
            return [Finding(.altered, path, "its sound differs from the signed sound")]
        }
        return [Finding(.unaltered, path, "its sound matches the signature made at \(Self.line(signed.time))")]
    }
}

extension AudioDecoder {
    func soundDigest() throws(DeviceError) -> String {
        let buffer = UnsafeMutableBufferPointer<Int16>.allocate(capacity: 65_536)
        defer { buffer.deallocate() }
        var digest = Digest()
        while case let count = try read(into: buffer), count > 0 {
            digest.add(UnsafeRawBufferPointer(UnsafeMutableBufferPointer(rebasing: buffer[..<count])))
        }
        return digest.finish()
    }
}
