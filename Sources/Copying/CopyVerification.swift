import Audio
import Core
import Glibc
import System
import Transcripts

/// Verifies on any machine that a copy is unaltered: files against SHA256SUMS, that against the recorder's signature, the history's
/// chain, and the sound against the signature made when the recording was closed. Blocks; changes nothing.
package struct CopyVerification {
    /// The result for one file, or for the whole copy.
    package struct Finding: Hashable, Sendable {
        /// What was found.
        package enum Outcome: String, Sendable {
            case unaltered, altered, missing
            /// Nothing was verified, and no fault was found.
            case unchecked
            case note
        }

        package var outcome: Outcome
        package var file: String
        /// May be empty.
        package var words: String
        /// The key that signed the copy, if this is about its valid signature.
        var key: String?

        init(_ outcome: Outcome, _ file: String, _ words: String = "", key: String? = nil) {
            (self.outcome, self.file, self.words, self.key) = (outcome, file, words, key)
        }

        package var line: String { "\(outcome.rawValue): \(file)\(words.isEmpty ? "" : ": \(words)")" }
    }

    private let key: String?

    /// - Parameter key: the recorder's public key; nil accepts the key that the copy itself names.
    package init(key: String?) { self.key = key }

    static let longest = 1 << 20
    static let maxFiles = 100_000

    private static let comparing = "compare it with the one that fieldscribe status shows on the recorder"
    private static let noCopy = "this is not a copy of a recording, or only part of one"

    /// Verifies a copy, or every copy in a folder and its subfolders, whatever their names.
    ///
    /// - Throws: `DeviceError` if the folder itself cannot be opened.
    package func run(_ path: String) throws(DeviceError) -> [Finding] {
        let folder = try Folder(opening: withoutTrailingSlash(path))
        let found = try PlacedCopies(in: folder)
        var findings: [Finding] = []
        for place in found.places {
            do throws(DeviceError) {
                findings += copy(try folder.folder(along: place))
            } catch { findings.append(Self.refused("\(folder.path)/\(place)", error)) }
        }
        if findings.isEmpty {
            findings.append(Finding(.missing, "\(folder.path)/\(CopySettings.manifestName)", Self.noCopy))
        }
        return findings + found.unseen
    }

    /// Sums up findings in one line: `127 files of 9 recordings unaltered, signed by RW...`.
    package func summary(_ findings: [Finding]) -> String {
        func files(_ outcomes: Finding.Outcome...) -> Set<String> {
            Set(findings.filter { outcomes.contains($0.outcome) }.map(\.file))
        }
        let (altered, missing) = (files(.altered), files(.missing))
        let unaltered = files(.unaltered).subtracting(altered).subtracting(missing)
        // A sealed copy is one file of a recording; the others are in a folder of their own.
        let recordings = Set(
            unaltered.union(altered).map { path in
                let parts = path.split(separator: "/", omittingEmptySubsequences: false)
                let isSealed = parts.last.map { SealedName(String($0)) != nil } ?? false
                return isSealed ? path : parts.dropLast().joined(separator: "/")
            })
        var words = [Self.count(unaltered.count, of: recordings.count) + " unaltered"]
        for (count, what) in [
            (altered.count, "altered"), (missing.count, "missing"), (files(.unchecked).count, "not checked"),
        ] where count > 0 { words.append("\(count) \(what)") }
        let keys = Set(findings.compactMap(\.key)).sorted()
        if !keys.isEmpty {
            words.append("signed by \(keys.joined(separator: " and "))\(key == nil ? "; \(Self.comparing)" : "")")
        }
        return words.joined(separator: ", ")
    }

    /// `127 files of 9 recordings`
    package static func count(_ files: Int, of recordings: Int) -> String {
        "\(counted(files, "file", "files")) of \(counted(recordings, "recording", "recordings"))"
    }

    private func copy(_ folder: Folder) -> [Finding] {
        let sums = "\(folder.path)/\(CopySettings.manifestName)"
        var findings: [Finding] = []
        do throws(DeviceError) {
            guard try folder.exists(CopySettings.manifestName) else { return [Finding(.missing, sums, Self.noCopy)] }
            let bytes = try folder.content(ofFile: CopySettings.manifestName, limit: Self.longest)
            guard let text = String(validating: bytes, as: UTF8.self), let digests = Manifest(reading: text)?.digests,
                !digests.isEmpty
            else { return [Finding(.altered, sums, "does not have the form that a recorder writes")] }
            if digests.keys.allSatisfy({ SealedName($0) != nil }) {
                let words = "sealed copies are signed inside; decrypt one with its private key, and verify the result"
                findings.append(Finding(.unchecked, sums, words))
            } else {
                findings.append(signature(of: bytes, in: folder))
            }
            for (name, digest) in digests.sorted(by: { $0.key < $1.key }) {
                findings.append(Self.file(name, digest, in: folder))
            }
            let known = Set(digests.keys).union([CopySettings.manifestName, CopySettings.signatureName])
            for name in try folder.names(limit: Self.maxFiles).sorted() where !known.contains(name) {
                findings.append(Finding(.note, "\(folder.path)/\(name)", "was added later"))
            }
            if digests[historyFileName] != nil { findings += history(in: folder, Set(digests.keys)) }
        } catch { findings.append(Self.refused(sums, error)) }
        return findings
    }

    private static func refused(_ path: String, _ error: DeviceError) -> Finding {
        error.status == ENOENT ? Finding(.missing, path) : Finding(.altered, error.subject ?? path, error.reason)
    }

    private static func file(_ name: String, _ digest: String, in folder: Folder) -> Finding {
        let path = "\(folder.path)/\(name)"
        do throws(DeviceError) {
            return try readBack(name, in: folder).finish() == digest
                ? Finding(.unaltered, path) : Finding(.altered, path, "differs from what was copied")
        } catch { return refused(path, error) }
    }

    /// Refuses everything but a file: opening a FIFO would block.
    private static func readBack(_ name: String, in folder: Folder) throws(DeviceError) -> ReadBack {
        _ = try folder.openFile(name, O_RDONLY)
        return try ReadBack(name, in: folder, shouldStop: { false })
    }

    // MARK: signatures

    /// Checks a copy's signature.
    ///
    /// - Parameters:
    ///   - sums: the content of its SHA256SUMS.
    ///   - folder: where signature and public key are.
    package func signature(of sums: [UInt8], in folder: Folder) -> Finding {
        let path = "\(folder.path)/\(CopySettings.signatureName)"
        do throws(DeviceError) {
            guard try folder.exists(CopySettings.signatureName) else {
                return Finding(
                    .missing, path,
                    "it is not signed: a person who changed a file could have changed its checksum, too")
            }
            let signature = try folder.content(ofFile: CopySettings.signatureName, limit: Minisign.longest)
            guard let key = try expectedKey(in: folder) else {
                return Finding(
                    .missing, "\(folder.path)/\(CopySettings.publicKeyName)",
                    "name the recorder's key with --key; fieldscribe status shows it there")
            }
            if let comment = try Minisign().comment(of: sums, signature: signature, key: key) {
                let hint = self.key == nil ? "; \(Self.comparing)" : ""
                return Finding(
                    .unaltered, "\(folder.path)/\(CopySettings.manifestName)",
                    "signed by \(key) (\(Self.line(comment)))\(hint)", key: key)
            }
            let other = try? Self.key(in: folder)
            if self.key != nil, let other, other != key,
                try Minisign().comment(of: sums, signature: signature, key: other) != nil
            {
                return Finding(.altered, path, "is another recorder's, whose key is \(other), not \(key)")
            }
            return Finding(.altered, path, "does not fit \(CopySettings.manifestName) and the key \(key)")
        } catch {
            guard error.cause == .minisign else { return Self.refused(path, error) }
            return Finding(.unchecked, path, "\(error.reason); \(error.remedy ?? "")")
        }
    }

    /// Returns the key that must have signed the copy.
    private func expectedKey(in folder: Folder) throws(DeviceError) -> String? {
        if let key { return key }
        return try Self.key(in: folder)
    }

    private static func key(in folder: Folder) throws(DeviceError) -> String? {
        guard try folder.exists(CopySettings.publicKeyName) else { return nil }
        let bytes = try folder.content(ofFile: CopySettings.publicKeyName, limit: Minisign.longest)
        return RecorderKey.key(in: String(decoding: bytes, as: UTF8.self))
    }

    private static func line(_ text: String) -> String { String(oneLine(text).prefix(200)) }

    // MARK: history and sound

    private func history(in folder: Folder, _ names: Set<String>) -> [Finding] {
        let path = "\(folder.path)/\(historyFileName)"
        do throws(DeviceError) {
            let bytes = try folder.content(ofFile: historyFileName, limit: Self.longest * 64)
            guard let lines = historyLines(in: String(decoding: bytes, as: UTF8.self)) else {
                return [Finding(.altered, path, "is not a valid history")]
            }
            if let number = Self.brokenEntry(of: lines) {
                let words =
                    "entry \(number) does not follow from the previous one: one of them was changed, or is missing"
                return [Finding(.altered, path, words)]
            }
            return try sound(lines.map(\.entry), in: folder, names)
        } catch { return error.status == ENOENT ? [] : [Self.refused(path, error)] }
    }

    /// Returns the number of the first entry that does not follow from the previous one; nil if all do.
    package static func brokenEntry(of lines: [HistoryLine]) -> Int? {
        zip([nil] + lines.map(Optional.some), lines).first { previous, line in
            line.entry.own != previous.map { Digest.of($0.text) } || line.entry.recording != lines[0].entry.recording
        }?.1.entry.number
    }

    /// Compares the sound with the digest that was signed when the recording was closed or redacted.
    private func sound(
        _ entries: [HistoryEntry], in folder: Folder, _ names: Set<String>
    ) throws(DeviceError) -> [Finding] {
        guard let name = AudioForm.allCases.map(\.fileName).first(where: names.contains) else { return [] }
        let path = "\(folder.path)/\(name)"
        guard let signed = entries.soundSignature, let sound = signed.sound else {
            return [Finding(.note, path, "when this was copied, the recorder had not yet signed the sound")]
        }
        do throws(DeviceError) {
            guard let key = try expectedKey(in: folder) else { return [] }
            guard try Minisign().fits(signed, key: key) else {
                let words = "entry \(signed.number): its signature does not fit the key \(key)"
                return [Finding(.altered, "\(folder.path)/\(historyFileName)", words)]
            }
        } catch {
            guard error.cause == .minisign else { throw error }
            // `signature(of:in:)` reports it.
            return []
        }
        let found: String
        do throws(DeviceError) {
            found = try AudioDecoder(try Self.readBack(name, in: folder), named: path).soundDigest()
        } catch {
            return [Finding(.altered, path, "its sound cannot be read: \(error.reason)")]
        }
        guard found == sound else {
            return [Finding(.altered, path, "its sound differs from what was signed")]
        }
        return [Finding(.unaltered, path, "its sound is as it was signed at \(Self.line(signed.time))")]
    }
}

extension AudioDecoder {
    /// Decodes everything and returns the SHA-256 of the samples.
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
