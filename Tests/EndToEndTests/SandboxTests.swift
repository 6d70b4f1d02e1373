import FoundationEssentials
import Glibc
import Testing
import TestKit

@testable import System

@Suite("A sandbox that forbids openat2") struct SandboxTests {
    private let folder = TemporaryFolder()
    private var storage: String { folder.file("storage") }

    /// Runs the executable with a library that hides openat2, as the recorder's systemd unit does, and renameat2.
    private func run(_ arguments: String...) throws -> Fieldscribe.Outcome {
        let program = try Fieldscribe.executable()
        let library = program.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" } + "/libFaultShim.so"
        let environment = ["LD_PRELOAD=\(library)", "FAULT_UNDER=\(folder.path)", "FAULT_STATE=\(folder.file("card"))"]
        return try Fieldscribe(
            program: "env", environment + [program] + arguments + ["--directory", storage], in: folder
        ).wait()
    }

    @Test("recordings are made, copied and erased, and no link is followed")
    func links() throws {
        for _ in 1...2 {
            let outcome = try run("record", "--audio-only", "--seconds", "1", "--microphone", "tone:440")
            #expect(outcome.status == 0, "\(outcome.errors)")
        }
        let outside = folder.file("outside")
        try makeFolder(outside)
        try durableReplace(path: "\(outside)/audio.wav", with: "theirs")
        try removeFolder("\(storage)/recordings/000001")
        #expect(symlink(outside, "\(storage)/recordings/000001") == 0)
        let stick = folder.file("stick")
        try makeFolder(stick)
        #expect(try run("export", "2", "--to", stick).status == 0)
        let recovered = try run("recover", "--no-transcribe")
        #expect(recovered.status == 4 && recovered.output.contains("is a link"), "\(recovered.output)")
        #expect(try run("delete", "1", "--yes").status == 0)
        #expect(try content(ofFile: "\(outside)/audio.wav") == Array("theirs".utf8))
        #expect(!pathExists("\(storage)/recordings/000001"))
        try expectVerified(run("verify"))
    }
}
