import Glibc
import Testing
import TestKit

@testable import Audio
@testable import Copying
@testable import Core
@testable import System

/// A key pair created by `age-keygen`.
struct KeyPair {
    private let folder = TemporaryFolder()
    let recipient: Recipient

    /// The path of the private key.
    var key: String { folder.file("key.txt") }

    init() throws {
        let path = folder.file("key.txt")
        shell("age-keygen -o '\(path)'")
        let text = shell("age-keygen -y '\(path)'").output.split(separator: "\n").last.map(String.init) ?? ""
        guard let recipient = Recipient(text) else {
            throw DeviceError(.missing, "age-keygen", "age is not installed: \(text)")
        }
        self.recipient = recipient
    }

    /// Decrypts an encrypted copy into a folder as README.txt explains. Returns the programs' output, empty on success.
    func open(_ path: String, into folder: String) -> String {
        let (status, output) = shell(
            "mkdir -p '\(folder)' && set -o pipefail && age -d -i '\(key)' '\(path)' | tar x -C '\(folder)'")
        return status == 0 ? output : "status \(status): \(output)"
    }

    func opens(_ path: String) -> Bool { shell("age -d -i '\(key)' '\(path)' >/dev/null").status == 0 }
}

extension Setup {
    /// The folder of encrypted copies.
    var sealedFolder: String { "\(stick)/Fieldscribe/sealed" }

    /// The names of the complete encrypted files, sorted. Incomplete files have other names.
    var sealedFiles: [String] { names(sealedFolder).filter { $0.hasSuffix(".fieldscribe.age") } }

    static func sealedName(_ id: Int) -> String { "00000\(id).fieldscribe.age" }

    /// Seals recording 1 as the recorder does, into the folder of the audio files, and updates the archive.
    func sealOnRecorder(for recipient: Recipient) async throws -> SealedManifest {
        let storage = folder.file("storage")
        let recordingFolder = RecordingFolder(storage: storage, recording: 1)
        try makeFolder(recordingFolder.path)
        #expect(rename(audioPath(1), recordingFolder.audio) == 0)
        let (summary, timeline) = try #require(await archive.transcript(of: 1))
        let settings = CopySettings(
            formats: formats, audio: .flac, device: Setup.device, volume: "", now: 1_795_170_000)
        let manifest = try RecordingSealer(
            summary, timeline, journal: "the journal\n", history: [], in: storage, settings: settings,
            for: [recipient], shouldContinue: { true }
        ).seal()
        #expect(rename(recordingFolder.sealed, folder.file(RecordingFolder.sealedName)) == 0)
        var sealed = summary
        sealed.seal = manifest.text
        await archive.put(sealed, Timeline(name: "000001", length: summary.length, engine: timeline.engine))
        return manifest
    }

    func result() -> String { shell("cat '\(stick)/Fieldscribe/RESULT.txt'").output }
}
