import FoundationEssentials
import Glibc
import Testing
import TestKit

@Suite("Odd names, limits and databases") struct OddInputTests {
    private let folder = TemporaryFolder()
    private var storage: String { folder.file("storage") }

    private func record(_ arguments: String...) throws -> Fieldscribe.Outcome {
        try Fieldscribe(
            ["record", "--audio-only", "--seconds", "2", "--microphone", "tone+fast:440", "--directory", storage]
                + arguments,
            in: folder
        ).wait()
    }

    @Test("if the database is empty, list says how to restore the recordings, and that works")
    func emptied() throws {
        #expect(try record().status == 0)
        for suffix in ["-wal", "-shm"] { unlink("\(storage)/archive.sqlite\(suffix)") }
        try #require(truncate("\(storage)/archive.sqlite", 0) == 0)
        let list = try Fieldscribe.run("list", "--directory", storage, in: folder)
        #expect(list.status == 0 && list.output == "", "\(list)")
        #expect(list.errors.count == 1 && list.errors[0].contains("not in the archive: 1;"), "\(list.errors)")
        #expect(list.errors.first?.contains("fieldscribe recover") == true)
        #expect(try Fieldscribe.run("recover", "--directory", storage, in: folder).status == 0)
        let listAfter = try Fieldscribe.run("list", "--directory", storage, in: folder)
        #expect(listAfter.output.contains("\n1  ") && listAfter.errors.isEmpty, "\(listAfter)")
    }

    @Test("a file size limit is reported as a limit, not as a disk error")
    func limited() throws {
        let program = try Fieldscribe.executable()
        let outcome = try Fieldscribe(
            program: "bash",
            [
                "-c",
                "ulimit -f 40; exec '\(program)' record --audio-only --seconds 9 --microphone tone+fast:440 --directory '\(storage)'",
            ], in: folder
        ).wait()
        #expect(outcome.status != 0 && outcome.errors.contains { $0.contains("ulimit -f") }, "\(outcome.errors)")
        #expect(!outcome.errors.contains { $0.contains("disk reports an error") }, "\(outcome.errors)")
    }

    @Test("a range instead of a number is refused with a remedy", arguments: ["5-9", "5..9"])
    func range(_ range: String) throws {
        let outcome = try Fieldscribe.run(
            "delete", range, "--yes", "--directory", folder.file("storage"), in: folder)
        #expect(outcome.status == 2, "\(outcome)")
        let line = "fieldscribe: delete: \(range): ranges are not supported; list the recording numbers one by one"
        #expect(outcome.errors == [line])
    }

    @Test("an argument that is not UTF-8 is refused in one line with a remedy")
    func bytes() throws {
        let program = try Fieldscribe.executable()
        let outcome = try Fieldscribe(
            program: "bash", ["-c", "exec '\(program)' transcribe $'caf\\xe9.wav'"], in: folder
        ).wait()
        #expect(outcome.status == 2 && outcome.errors.count == 1, "\(outcome.errors)")
        #expect(outcome.errors.first?.contains("is not UTF-8; rename the file") == true)
    }

    @Test("an unreadable list of allowed sticks is an error, not a refusal of the stick")
    func unreadableSticks() throws {
        let config = folder.file("fieldscribe.conf")
        try "[storage]\ndirectory = \(folder.file("storage"))\n[export]\nsticks = known\n"
            .write(toFile: config, atomically: true, encoding: .utf8)
        try Fieldscribe.tool("mkdir", folder.file("storage"), in: folder)
        symlink("/etc/hostname", folder.file("storage/known-sticks.txt"))
        let outcome = try Fieldscribe.run("stick", "admit", "sdx1", "--config", config, in: folder)
        #expect(outcome.status == 1)
        #expect(outcome.errors.count == 1 && outcome.errors.first?.contains("known-sticks.txt: is a link") == true)
    }

    @Test("stick repair changes a stick only after confirmation")
    func repair() throws {
        let calls = folder.file("calls")
        let steps = try folder.program("steps", "echo \"$*\" >>'\(calls)'")
        let program = try Fieldscribe.executable()
        func repair(_ arguments: String, answer: String? = nil) throws -> Fieldscribe.Outcome {
            let command = "FIELDSCRIBE_STICK_STEPS='\(steps)' '\(program)' stick repair sdx1 \(arguments)"
            guard let answer else { return try Fieldscribe(program: "bash", ["-c", command], in: folder).wait() }
            let input = folder.file("answer")
            try Data(answer.utf8).write(to: URL(filePath: input))
            return try Fieldscribe(program: "script", ["-qefc", command, "/dev/null"], in: folder, input: input).wait()
        }
        func recordedCalls() -> String { (try? Fieldscribe.text(calls)) ?? "" }
        let withoutTerminal = try repair("")
        guard geteuid() == 0 else {
            #expect(
                withoutTerminal.status == 1
                    && withoutTerminal.errors.first?.contains("sudo fieldscribe stick repair") == true)
            return
        }
        #expect(
            withoutTerminal.status == 2 && withoutTerminal.errors.first?.contains("--yes") == true, "\(withoutTerminal)"
        )
        let refused = try repair("", answer: "n\n")
        #expect(refused.status == 0 && refused.output.contains("repair sdx1, and lose"), "\(refused)")
        #expect(refused.output.contains("nothing was changed") && recordedCalls() == "", "\(refused)")
        let agreed = try repair("", answer: "y\n")
        #expect(agreed.status == 0 && agreed.output.contains("plug it in again"), "\(agreed)")
        #expect(recordedCalls() == "repair sdx1\n")
        #expect(try repair("--yes").status == 0 && recordedCalls() == "repair sdx1\nrepair sdx1\n")
    }
}
