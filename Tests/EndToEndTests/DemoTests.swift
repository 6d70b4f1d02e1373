import FoundationEssentials
import Glibc
import Testing
import TestKit

@Suite("demo") struct DemoTests {
    @Test("without --directory it uses a new folder with an unpredictable name, and removes it")
    func plantedFolder() throws {
        let folder = TemporaryFolder()
        let marker = folder.file("ran")
        // Files with predictable names, which libasound would run or read.
        let names = ["fieldscribe-demo", "fieldscribe-demo-", "fieldscribe-demo-\(getpid())"]
        let planted = "pcm.!default { type file slave.pcm null file \"| touch \(marker)\" format raw }\n"
        for name in names {
            try FileManager.default.createDirectory(atPath: folder.file(name), withIntermediateDirectories: true)
            try Data(planted.utf8).write(to: URL(filePath: "\(folder.file(name))/asound.conf"))
        }
        let executable = try Fieldscribe.executable()
        let demo = try Fieldscribe(
            program: "env", ["TMPDIR=\(folder.path)", executable, "demo", "--engine", "pocketsphinx"], in: folder)
        var made: [String] = []
        try demo.wait(until: "the demo's folder") {
            made = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter {
                $0.hasPrefix("fieldscribe-demo-\(demo.id)-")
            }
            return made.contains { access("\(folder.file($0))/asound.conf", F_OK) == 0 }
        }
        var status = stat()
        #expect(lstat(folder.file(made[0]), &status) == 0 && status.st_mode & 0o777 == 0o700)
        // It handles signals itself once it records.
        let audio = "\(folder.file(made[0]))/recordings/000001/audio.wav"
        // More than a header.
        try demo.wait(until: "the demo records") { stat(audio, &status) == 0 && status.st_size > 512 }
        kill(demo.id, SIGINT)
        _ = try demo.wait()
        #expect(access(marker, F_OK) != 0, "the planted configuration was read")
        #expect(access(folder.file(made[0]), F_OK) != 0, "the demo's folder remains")
        for name in names {
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file(name)) == ["asound.conf"])
        }
    }

    @Test("on a terminal each message has its own line, and none looks like an error")
    func terminal() throws {
        let folder = TemporaryFolder()
        // Without minisign: the demo shows no signature.
        let demo = "PATH=/nonexistent '\(try Fieldscribe.executable())' demo --engine pocketsphinx"
        let ending = try Fieldscribe(
            program: "script", ["-qefc", "\(demo) --directory '\(folder.file("demo"))'", "/dev/null"], in: folder
        ).wait()
        #expect(ending.status == 0, "\(ending.output)")
        // The final content of each terminal row.
        let rows = ending.output.split(separator: "\r\n").map { row in
            row.split(separator: "\r\u{1B}[K", omittingEmptySubsequences: false).last ?? ""
        }
        #expect(rows.contains("button pressed again: recording stops"), "\(rows)")
        #expect(rows.contains { $0.hasPrefix("00:00  ") })
        for row in rows {
            #expect(!row.contains("[#") && !row.contains("\u{1B}"), "a status line stays: \(row)")
            #expect(!row.contains("fieldscribe:") && !row.contains("minisign"), "looks like an error: \(row)")
        }
    }
}
