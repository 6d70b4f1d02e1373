import FoundationEssentials
import Glibc
import TestKit
import Testing

@Suite("Odd names, limits and databases") struct OddInputTests {
    private let folder = TemporaryFolder()
    private var storage: String { folder.file("storage") }

    private func record(_ words: String...) throws -> Fieldscribe.Ending {
        try Fieldscribe(
            ["record", "--audio-only", "--seconds", "2", "--microphone", "tone+fast:440", "--directory", storage]
                + words,
            in: folder
        ).wait()
    }

    @Test("an emptied database does not hide the recordings: list says how they come back, and they do")
    func emptied() throws {
        #expect(try record().status == 0)
        for ending in ["-wal", "-shm"] { unlink("\(storage)/archive.sqlite\(ending)") }
        try #require(truncate("\(storage)/archive.sqlite", 0) == 0)
        let list = try Fieldscribe.run("list", "--directory", storage, in: folder)
        #expect(list.status == 0 && list.output == "", "\(list)")
        #expect(list.errors.count == 1 && list.errors[0].contains("not in the archive: 1;"), "\(list.errors)")
        #expect(list.errors.first?.contains("fieldscribe recover") == true)
        #expect(try Fieldscribe.run("recover", "--directory", storage, in: folder).status == 0)
        let again = try Fieldscribe.run("list", "--directory", storage, in: folder)
        #expect(again.output.hasPrefix("1  ") && again.errors.isEmpty, "\(again)")
    }

    @Test("a limit on files is called a limit, and not a fault of the disk")
    func limited() throws {
        let program = try Fieldscribe.executable()
        let ending = try Fieldscribe(
            program: "bash",
            [
                "-c",
                "ulimit -f 40; exec '\(program)' record --audio-only --seconds 9 --microphone tone+fast:440 --directory '\(storage)'",
            ], in: folder
        ).wait()
        #expect(ending.status != 0 && ending.errors.contains { $0.contains("ulimit -f") }, "\(ending.errors)")
        #expect(!ending.errors.contains { $0.contains("disk reports an error") }, "\(ending.errors)")
    }

    @Test("a word that is not UTF-8 is refused in one line that says what to do")
    func bytes() throws {
        let program = try Fieldscribe.executable()
        let ending = try Fieldscribe(
            program: "bash", ["-c", "exec '\(program)' transcribe $'caf\\xe9.wav'"], in: folder
        ).wait()
        #expect(ending.status == 2 && ending.errors.count == 1, "\(ending.errors)")
        #expect(ending.errors.first?.contains("is not UTF-8; rename the file") == true)
    }
}
