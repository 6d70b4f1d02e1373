import FoundationEssentials
import Glibc
import Testing
import TestKit

@Suite("demo") struct DemoTests {
    @Test("without --directory the demo uses a new folder with an unpredictable name, and removes it")
    func plantedFolder() throws {
        let folder = TemporaryFolder()
        let marker = folder.file("ran")
        // Configurations in folders with predictable names; libasound would run their commands.
        let names = ["fieldscribe-demo", "fieldscribe-demo-", "fieldscribe-demo-\(getpid())"]
        let planted = "pcm.!default { type file slave.pcm null file \"| touch \(marker)\" format raw }\n"
        for name in names {
            try FileManager.default.createDirectory(atPath: folder.file(name), withIntermediateDirectories: true)
            try Data(planted.utf8).write(to: URL(filePath: "\(folder.file(name))/asound.conf"))
        }
        let executable = try Fieldscribe.executable()
        let demo = try Fieldscribe(
            program: "env", ["TMPDIR=\(folder.path)", executable, "demo", "--engine", "pocketsphinx"], in: folder)
        var demoFolders: [String] = []
        try demo.wait(until: "the demo's folder") {
            demoFolders = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter {
                $0.hasPrefix("fieldscribe-demo-\(demo.id)-")
            }
            return demoFolders.contains { access("\(folder.file($0))/asound.conf", F_OK) == 0 }
        }
        var status = stat()
        #expect(lstat(folder.file(demoFolders[0]), &status) == 0 && status.st_mode & 0o777 == 0o700)
        // Once it records, the demo handles signals itself.
        let audio = "\(folder.file(demoFolders[0]))/recordings/000001/audio.wav"
        // The header has 512 bytes.
        try demo.wait(until: "the demo records") { stat(audio, &status) == 0 && status.st_size > 512 }
        kill(demo.id, SIGINT)
        _ = try demo.wait()
        #expect(access(marker, F_OK) != 0, "the planted configuration was read")
        #expect(access(folder.file(demoFolders[0]), F_OK) != 0, "the demo's folder remains")
        for name in names {
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file(name)) == ["asound.conf"])
        }
    }

    @Test("on a terminal each message has its own line, and none looks like an error")
    func terminal() throws {
        let folder = TemporaryFolder()
        // The PATH has no minisign; the demo must not complain about that.
        let demo = "PATH=/nonexistent '\(try Fieldscribe.executable())' demo --engine pocketsphinx"
        let outcome = try Fieldscribe(
            program: "script", ["-qefc", "\(demo) --directory '\(folder.file("demo"))'", "/dev/null"], in: folder
        ).wait()
        #expect(outcome.status == 0, "\(outcome.output)")
        // The final content of each terminal row.
        let rows = outcome.output.split(separator: "\r\n").map { row in
            row.split(separator: "\r\u{1B}[K", omittingEmptySubsequences: false).last ?? ""
        }
        #expect(rows.contains("button pressed again: recording stops"), "\(rows)")
        #expect(rows.contains { $0.hasPrefix("00:00  ") })
        for row in rows {
            #expect(!row.contains("[#") && !row.contains("\u{1B}"), "a status line remains: \(row)")
            #expect(!row.contains("fieldscribe:") && !row.contains("minisign"), "looks like an error: \(row)")
        }
    }
}
