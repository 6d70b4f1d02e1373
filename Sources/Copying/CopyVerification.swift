import Audio
import Core
import Glibc
import System
import Transcripts

/// Proves that a copy is as a recorder made it, on any machine: its files by its SHA256SUMS, those by the recorder's signature, its
/// history by its chain, and its sound by what was signed when the recording was closed. Blocks; changes nothing.
package struct CopyVerification {
    /// What was found of a file, or of the whole.
    package struct Finding: Hashable, Sendable {
        /// How it is.
        package enum Outcome: String, Sendable {
            case unaltered, altered, missing
            /// Nothing is known to be wrong, and nothing was proved.
            case unchecked
            /// Worth knowing.
            case note
        }

        /// How it is.
        package var outcome: Outcome
        /// The file's path.
        package var file: String
        /// What there is to say besides; may be empty.
        package var words: String

        /// One line.
        package var line: String { "\(outcome.rawValue): \(file)\(words.isEmpty ? "" : ": \(words)")" }
    }

    private let key: String?

    /// - Parameter key: the public key of the recorder that it has to be from; nil for whatever key the copy names.
    package init(key: String?) { self.key = key }

    static let longest = 1 << 20
    static let mostFiles = 100_000

    /// Looks at a copy, or at each copy in a folder, such as all of a stick, however deep it lies and whatever it is called now.
    ///
    /// - Throws: `DeviceError` where the folder itself cannot be opened.
    package func run(_ path: String) throws(DeviceError) -> [Finding] {
        let folder = try Folder(opening: path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path)
        let found = try PlacedCopies(in: folder)
        var findings: [Finding] = []
        for place in found.places {
            do throws(DeviceError) {
                findings += copy(try folder.folder(along: place))
            } catch { findings.append(Self.refused("\(folder.path)/\(place)", error)) }
        }
        if findings.isEmpty {
            findings.append(
                Finding(
                    outcome: .missing, file: "\(folder.path)/\(CopySettings.manifestName)",
                    words: "this is no copy of a recording, or half of one"))
        }
        return findings + found.unseen
    }

    private func copy(_ folder: Folder) -> [Finding] {
        let sums = "\(folder.path)/\(CopySettings.manifestName)"
        var findings: [Finding] = []
        do throws(DeviceError) {
            guard try folder.exists(CopySettings.manifestName) else {
                return [Finding(outcome: .missing, file: sums, words: "this is no copy of a recording, or half of one")]
            }
            let bytes = try Self.bytes(CopySettings.manifestName, in: folder)
            guard let text = String(validating: bytes, as: UTF8.self), let digests = Manifest(reading: text)?.digests,
                !digests.isEmpty
            else {
                return [Finding(outcome: .altered, file: sums, words: "is not as a recorder writes it")]
            }
            if digests.keys.allSatisfy({ SealedName($0) != nil }) {
                findings.append(
                    Finding(
                        outcome: .unchecked, file: sums,
                        words:
                            "sealed copies are signed inside; open one with its private key, and verify what comes out")
                )
            } else {
                findings.append(signature(of: bytes, in: folder))
            }
            for (name, digest) in digests.sorted(by: { $0.key < $1.key }) {
                findings.append(Self.file(name, digest, in: folder))
            }
            let known = Set(digests.keys).union([CopySettings.manifestName, CopySettings.signatureName])
            for name in try folder.names(limit: Self.mostFiles).sorted() where !known.contains(name) {
                findings.append(Finding(outcome: .note, file: "\(folder.path)/\(name)", words: "was added since"))
            }
            if digests[historyFileName] != nil { findings += history(in: folder, Set(digests.keys)) }
        } catch { findings.append(Self.refused(sums, error)) }
        return findings
    }

    private static func refused(_ path: String, _ error: DeviceError) -> Finding {
        if error.status == ENOENT { return Finding(outcome: .missing, file: path, words: "") }
        return Finding(outcome: .altered, file: error.subject ?? path, words: error.reason)
    }

    private static func bytes(_ name: String, in folder: Folder) throws(DeviceError) -> [UInt8] {
        try folder.openFile(name, O_RDONLY).content(limit: longest)
    }

    private static func file(_ name: String, _ digest: String, in folder: Folder) -> Finding {
        let path = "\(folder.path)/\(name)"
        do throws(DeviceError) {
            guard try Self.readBack(name, in: folder).finish() == digest else {
                return Finding(outcome: .altered, file: path, words: "is not what was copied")
            }
            return Finding(outcome: .unaltered, file: path, words: "")
        } catch { return refused(path, error) }
    }

    /// What is no file is refused first: a pipe would be waited for.
    private static func readBack(_ name: String, in folder: Folder) throws(DeviceError) -> ReadBack {
        _ = try folder.openFile(name, O_RDONLY)
        return try ReadBack(name, in: folder, shouldStop: { false })
    }

    // MARK: signatures

    /// What a copy's signature proves.
    ///
    /// - Parameters:
    ///   - sums: the content of its SHA256SUMS.
    ///   - folder: where signature and public key are.
    package func signature(of sums: [UInt8], in folder: Folder) -> Finding {
        let path = "\(folder.path)/\(CopySettings.signatureName)"
        do throws(DeviceError) {
            guard try folder.exists(CopySettings.signatureName) else {
                return Finding(
                    outcome: .missing, file: path,
                    words: "it is not signed, so that whoever changed a file could have changed its checksum, too")
            }
            let signature = try folder.openFile(CopySettings.signatureName, O_RDONLY).content(limit: Minisign.longest)
            guard let key = try expectedKey(in: folder) else {
                return Finding(
                    outcome: .missing, file: "\(folder.path)/\(CopySettings.publicKeyName)",
                    words: "name the recorder's key with --key; fieldscribe status shows it there")
            }
            if let comment = try Minisign().comment(of: sums, signature: signature, key: key) {
                let told =
                    self.key == nil ? "; compare it with the one that fieldscribe status shows on the recorder" : ""
                return Finding(
                    outcome: .unaltered, file: "\(folder.path)/\(CopySettings.manifestName)",
                    words: "signed by \(key) (\(Self.line(comment)))\(told)")
            }
            let other = (try? Self.key(in: folder)).flatMap { $0 }
            if self.key != nil, let other, other != key,
                try Minisign().comment(of: sums, signature: signature, key: other) != nil
            {
                return Finding(
                    outcome: .altered, file: path, words: "is another recorder's, whose key is \(other), not \(key)")
            }
            return Finding(
                outcome: .altered, file: path, words: "does not fit \(CopySettings.manifestName) and the key \(key)")
        } catch {
            guard error.program == .minisign else { return Self.refused(path, error) }
            return Finding(outcome: .unchecked, file: path, words: "\(error.reason); \(error.remedy ?? "")")
        }
    }

    /// The key that it has to be signed by.
    private func expectedKey(in folder: Folder) throws(DeviceError) -> String? {
        if let key { return key }
        return try Self.key(in: folder)
    }

    private static func key(in folder: Folder) throws(DeviceError) -> String? {
        guard try folder.exists(CopySettings.publicKeyName) else { return nil }
        let bytes = try folder.openFile(CopySettings.publicKeyName, O_RDONLY).content(limit: Minisign.longest)
        return RecorderKey.key(in: String(decoding: bytes, as: UTF8.self))
    }

    private static func line(_ text: String) -> String { String(oneLine(text).prefix(200)) }

    // MARK: history and sound

    private func history(in folder: Folder, _ names: Set<String>) -> [Finding] {
        let path = "\(folder.path)/\(historyFileName)"
        do throws(DeviceError) {
            let bytes = try folder.openFile(historyFileName, O_RDONLY).content(limit: Self.longest * 64)
            guard let lines = historyLines(in: String(decoding: bytes, as: UTF8.self)) else {
                return [Finding(outcome: .altered, file: path, words: "is no history")]
            }
            if let number = Self.brokenEntry(of: lines) {
                return [
                    Finding(
                        outcome: .altered, file: path,
                        words:
                            "entry \(number) does not follow from the one before it: one of them was changed, or is missing"
                    )
                ]
            }
            return try sound(lines.map(\.entry), in: folder, names)
        } catch { return error.status == ENOENT ? [] : [Self.refused(path, error)] }
    }

    /// The number of the first entry of a recording's history that does not follow from the one before it; nil where all do.
    package static func brokenEntry(of lines: [HistoryLine]) -> Int? {
        zip([nil] + lines.map(Optional.some), lines).first { previous, line in
            line.entry.own != previous.map { Digest.of($0.text) } || line.entry.recording != lines[0].entry.recording
        }?.1.entry.number
    }

    /// Compares the sound with what was signed when the recording was closed, or struck.
    private func sound(
        _ entries: [HistoryEntry], in folder: Folder, _ names: Set<String>
    ) throws(DeviceError) -> [Finding] {
        guard let name = AudioForm.allCases.map({ "audio.\($0.rawValue)" }).first(where: names.contains) else {
            return []
        }
        let path = "\(folder.path)/\(name)"
        guard let signed = entries.soundSignature, let sound = signed.sound else {
            return [
                Finding(
                    outcome: .note, file: path,
                    words: "the recorder had not signed the recording's sound yet when this was copied")
            ]
        }
        do throws(DeviceError) {
            guard let key = try expectedKey(in: folder) else { return [] }
            guard try Minisign().fits(signed, key: key) else {
                return [
                    Finding(
                        outcome: .altered, file: "\(folder.path)/\(historyFileName)",
                        words: "entry \(signed.number): its signature does not fit the key \(key)")
                ]
            }
        } catch {
            guard error.program == .minisign else { throw error }
            // That was said already.
            return []
        }
        let found: String
        do throws(DeviceError) { found = try Self.soundDigest(name, in: folder) } catch {
            return [Finding(outcome: .altered, file: path, words: "its sound cannot be read: \(error.reason)")]
        }
        guard found == sound else {
            return [
                Finding(outcome: .altered, file: path, words: "its sound is not what was signed as it was recorded")
            ]
        }
        return [
            Finding(outcome: .unaltered, file: path, words: "its sound is what was signed at \(Self.line(signed.time))")
        ]
    }

    private static func soundDigest(_ name: String, in folder: Folder) throws(DeviceError) -> String {
        let decoder = try AudioDecoder(try readBack(name, in: folder), named: "\(folder.path)/\(name)")
        let room = UnsafeMutableBufferPointer<Int16>.allocate(capacity: 65_536)
        defer { room.deallocate() }
        var digest = Digest()
        while case let count = try decoder.read(into: room), count > 0 {
            digest.add(UnsafeRawBufferPointer(UnsafeMutableBufferPointer(rebasing: room[..<count])))
        }
        return digest.finish()
    }
}
