import FoundationEssentials
import Glibc
import Testing
import TestKit

@Suite("export", .serialized) struct ExportTests {
    /// Creates an archive with one recording of a person reading.
    private static func archive(in folder: TemporaryFolder) throws -> String {
        let storage = folder.file("storage")
        let outcome = try Fieldscribe.run(
            "record", "--microphone", "file+fast:\(Speech.all[0])", "--directory", storage, in: folder)
        #expect(outcome.status == 0, "\(outcome.errors)")
        return storage
    }

    @Test("a recording is copied completely; a second export copies nothing")
    func export() throws {
        let folder = TemporaryFolder()
        let storage = try Self.archive(in: folder)
        // The folder and its parents do not exist yet.
        let stick = folder.file("new/stick")
        let firstExport = try Fieldscribe.run("export", "--to", stick, "--directory", storage, in: folder)
        #expect(firstExport.status == 0, "\(firstExport.errors)")
        let copy = try #require(firstExport.copy)
        #expect(copy.hasPrefix("\(stick)/Fieldscribe/") && copy.contains("/000001_"))
        try Fieldscribe.tool("bash", "-c", "cd '\(copy)' && sha256sum -c SHA256SUMS", in: folder)
        try Fieldscribe.tool("cmp", "\(copy)/transcript.txt", Self.shown(storage, in: folder), in: folder)
        try Fieldscribe.tool(
            "bash", "-c",
            "cmp <(sox '\(copy)/audio.flac' -t raw -) <(sox '\(storage)/recordings/000001/audio.wav' -t raw -)",
            in: folder)
        let secondExport = try Fieldscribe.run("export", "1", "--to", stick, "--directory", storage, in: folder)
        #expect(secondExport.status == 0 && secondExport.output.isEmpty)
        #expect(secondExport.errors.last?.contains("nothing was copied") == true, "\(secondExport.errors)")
    }

    @Test("a copy into the recordings' folder is refused, because deleting a recording would erase it")
    func own() throws {
        let folder = TemporaryFolder()
        let storage = try Self.archive(in: folder)
        for name in ["000001", "000001/new", "new"] {
            let target = "\(storage)/recordings/\(name)"
            let outcome = try Fieldscribe.run("export", "--to", target, "--directory", storage, in: folder)
            #expect(outcome.status == 1 && outcome.errors.count == 1, "\(outcome)")
            #expect(outcome.errors.first?.contains("is in the folder of the recordings") == true)
            #expect(access("\(target)/Fieldscribe", F_OK) != 0)
        }
        #expect(access("\(storage)/recordings/new", F_OK) != 0)
    }

    @Test("verify checks that a copy is unaltered; without minisign, a message reports that copies are not signed")
    func provedCopy() throws {
        let folder = TemporaryFolder()
        let storage = try Self.archive(in: folder)
        let stick = folder.file("stick")
        try FileManager.default.createDirectory(atPath: stick, withIntermediateDirectories: true)
        let program = try #require(Fieldscribe.path)
        func runWithoutTools(_ arguments: String...) throws -> Fieldscribe.Outcome {
            try Fieldscribe(program: "/usr/bin/env", ["PATH=\(folder.file("none"))", program] + arguments, in: folder)
                .wait()
        }
        let unsigned = try runWithoutTools("export", "--to", stick, "--directory", storage)
        #expect(unsigned.status == 0, "\(unsigned.errors)")
        #expect(unsigned.errors.contains { $0.contains("apt install minisign; copies are not signed") })
        let copy = try #require(unsigned.copy)
        let verifiedUnsigned = try Fieldscribe.run("verify", "--copy", copy, in: folder)
        #expect(
            verifiedUnsigned.status == 4
                && verifiedUnsigned.output.contains("missing: \(copy)/SHA256SUMS.minisig: the copy is not signed")
        )
        guard access("/usr/bin/minisign", X_OK) == 0 else { return }

        try Fieldscribe.tool("rm", "-r", copy, in: folder)
        let signed = try Fieldscribe.run("export", "--to", stick, "--directory", storage, in: folder)
        #expect(signed.status == 0 && !signed.errors.contains { $0.contains("not signed") }, "\(signed.errors)")
        let signedCopy = try #require(signed.copy)
        for key in ["\(storage)/signing.pub", "\(signedCopy)/recorder.pub"] {
            let brief = try Fieldscribe.run("verify", "--copy", signedCopy, "--key", key, in: folder)
            #expect(brief.status == 0 && brief.errors.isEmpty, "\(brief.output)\(brief.errors)")
            let lines = brief.output.split(separator: "\n")
            #expect(!lines.contains { $0.hasPrefix("unaltered: ") }, "\(brief.output)")
            let summary = /[0-9]+ files of 1 recording unaltered, signed by RW[^;, ]+/
            #expect(lines.last?.wholeMatch(of: summary) != nil, "\(brief.output)")
            let verbose = try Fieldscribe.run("verify", "--copy", signedCopy, "--key", key, "--verbose", in: folder)
            #expect(verbose.status == 0 && verbose.errors.isEmpty, "\(verbose.output)\(verbose.errors)")
            let files = lines.last?.prefix { $0 != " " }
            let listedFiles = verbose.output.split(separator: "\n").dropLast()
                .compactMap { $0.split(separator: " ").dropFirst().first?.split(separator: ":").first }
            #expect(
                Set(listedFiles).count == files.flatMap { Int($0) } && verbose.output.hasSuffix("\(lines.last ?? "")\n")
            )
            #expect(
                verbose.output.split(separator: "\n").dropLast().allSatisfy {
                    $0.hasPrefix("unaltered: ") || $0.hasPrefix("note: ")
                }
            )
        }
        let unchecked = try runWithoutTools("verify", "--copy", signedCopy)
        #expect(unchecked.status == 3 && unchecked.output.contains("apt install minisign"), "\(unchecked.output)")
        // If minisign cannot start, the copy is not reported as altered.
        let broken = folder.file("broken")
        try Data("no program\n".utf8).write(to: URL(filePath: folder.file("text")))
        try Fieldscribe.tool("install", "-D", "-m", "755", folder.file("text"), "\(broken)/minisign", in: folder)
        let brokenTool = try Fieldscribe(
            program: "/usr/bin/env", ["PATH=\(broken)", program, "verify", "--copy", signedCopy], in: folder
        ).wait()
        #expect(brokenTool.status == 3 && !brokenTool.output.contains("altered: \(signedCopy)/SHA256SUMS.minisig"))
        #expect(brokenTool.output.contains("\(broken)/minisign"), "\(brokenTool.output)")
        for key in ["RWshort", "\(signedCopy)/transcript.txt", "/nowhere"] {
            let refused = try Fieldscribe.run("verify", "--copy", signedCopy, "--key", key, in: folder)
            #expect(refused.status != 0 && refused.errors.count == 1, "\(refused.errors)")
        }
        try Fieldscribe.tool("bash", "-c", "echo more >> '\(signedCopy)/transcript.txt'", in: folder)
        let altered = try Fieldscribe.run("verify", "--copy", signedCopy, "--json", in: folder)
        #expect(altered.status == 4 && altered.output.contains(#""outcome":"altered""#), "\(altered.output)")
        // An altered copy is also found under another name, next to an unaltered copy.
        let moved = "\(stick)/photos/Interview with Anna"
        try Fieldscribe.tool("bash", "-c", "mkdir '\(stick)/photos' && mv '\(signedCopy)' '\(moved)'", in: folder)
        let newCopy = try Fieldscribe.run("export", "--to", stick, "--directory", storage, in: folder)
        #expect(newCopy.status == 0 && !newCopy.output.isEmpty, "\(newCopy)")
        let verifiedStick = try Fieldscribe.run("verify", "--copy", stick, in: folder)
        #expect(
            verifiedStick.status == 4 && verifiedStick.output.contains("altered: \(moved)/transcript.txt"),
            "\(verifiedStick.output)")
        #expect(
            verifiedStick.output.contains(" files of 2 recordings unaltered, 1 altered, signed by RW"),
            "\(verifiedStick.output)")
        try Fieldscribe.tool("rm", "-r", moved, in: folder)
        let verifiedAgain = try Fieldscribe.run("verify", "--copy", stick, in: folder)
        #expect(verifiedAgain.status == 0, "\(verifiedAgain.output)")
    }

    private static func shown(_ storage: String, in folder: TemporaryFolder) throws -> String {
        let path = folder.file("shown.txt")
        _ = try Fieldscribe.run("show", "1", "--directory", storage, in: folder, output: path)
        return path
    }

    @Test("invalid arguments, a target inside a file and a file size limit are reported with their exit statuses")
    func refusals() throws {
        let folder = TemporaryFolder()
        let storage = try Self.archive(in: folder)
        let stick = folder.file("stick")
        try FileManager.default.createDirectory(atPath: stick, withIntermediateDirectories: true)
        for (arguments, status) in [
            (["export"], 2), (["export", "x", "--to", stick], 2), (["export", "--to"], 2),
            (["export", "--to", "\(Speech.all[0])/none", "--directory", storage], 1),
            (["export", "9", "--to", stick, "--directory", storage], 3),
            (["export", "--to", stick, "--directory", folder.file("none")], 3),
        ] as [([String], Int32)] {
            let outcome = try Fieldscribe(arguments, in: folder).wait()
            #expect(outcome.status == status && outcome.errors.count == 1, "\(arguments): \(outcome.errors)")
        }
        // No file may grow past 64 KiB.
        let program = try #require(try Fieldscribe.run("--version", in: folder).status == 0 ? Fieldscribe.path : nil)
        let limitedExport = try Fieldscribe(
            program: "bash",
            ["-c", "ulimit -f 64; exec '\(program)' export --to '\(stick)' --directory '\(storage)'"], in: folder
        ).wait()
        #expect(limitedExport.status == 1, "\(limitedExport.errors)")
        #expect(
            limitedExport.errors.contains { $0.contains("cannot store such a large file") }, "\(limitedExport.errors)")
        let loggedExport = try Fieldscribe(
            program: "bash",
            [
                "-c",
                "ulimit -f 64; FIELDSCRIBE_LOG=debug exec '\(program)' export --to '\(stick)' --directory '\(storage)'",
            ], in: folder
        ).wait()
        // 27 is EFBIG.
        #expect(
            loggedExport.errors.contains { $0.contains("copy recording=1 operation=") && $0.contains(" status=27") },
            "\(loggedExport.errors)")
        let remaining = try FileManager.default.subpathsOfDirectory(atPath: stick).filter {
            $0.contains("0000") || $0.contains("partial")
        }
        #expect(remaining.isEmpty, "\(remaining)")
    }

    @Test("Ctrl-C during a copy exits with 130 and leaves no incomplete copy")
    func interrupt() throws {
        let folder = TemporaryFolder()
        let storage = folder.file("storage")
        let longPath = folder.file("long.wav")
        // An hour of noise takes a while to encode.
        try Fieldscribe.tool(
            "sox", "-n", "-r", "16000", "-b", "16", "-c", "1", longPath, "synth", "3600", "whitenoise", in: folder)
        let recording = try Fieldscribe.run(
            "record", "--audio-only", "--microphone", "file+fast:\(longPath)", "--directory", storage, in: folder)
        #expect(recording.status == 0, "\(recording.errors)")
        let stick = folder.file("stick")
        try FileManager.default.createDirectory(atPath: stick, withIntermediateDirectories: true)
        let export = try Fieldscribe(["export", "--to", stick, "--directory", storage], in: folder)
        try export.wait(until: "part of the sound is copied", every: .milliseconds(1)) {
            let paths = try FileManager.default.subpathsOfDirectory(atPath: stick)
            return paths.contains { $0.hasSuffix("partial/audio.flac") }
        }
        kill(export.id, SIGINT)
        let outcome = try export.wait()
        #expect(outcome.status == 130, "\(outcome.errors)")
        #expect(outcome.errors.last?.contains("copy again to continue") == true)
        let remaining = try FileManager.default.subpathsOfDirectory(atPath: stick).filter {
            $0.contains("0000") || $0.contains("partial")
        }
        #expect(remaining.isEmpty, "\(remaining)")
    }

    @Test("the demo records through libasound and exports to a folder instead of a stick")
    func demo() throws {
        let folder = TemporaryFolder()
        let outcome = try Fieldscribe.run(
            "demo", "--engine", "pocketsphinx", "--directory", folder.file("demo"), in: folder)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.output.contains("amiable itself"))
        // Partial text stays above the final text. A busy machine may show none; then every word counts as an error.
        let partialLines = outcome.output.split(separator: "\n").filter { $0.hasPrefix("    ~  ") }
        #expect(partialLines.allSatisfy { $0.count > "    ~  ".count })
        #expect(
            !partialLines.isEmpty || outcome.output.contains("word errors: 100 % in the partial text"),
            "\(outcome.output)")
        let errors = "word errors: NN % in the partial text (pocketsphinx), NN % in the final text (pocketsphinx)"
        let errorLines = outcome.output.split(separator: "\n").filter { $0.hasPrefix("word errors") }
        #expect(errorLines.map { String($0.replacing(/[0-9]+/, with: "NN")) } == [errors], "\(outcome.output)")
        #expect(FileManager.default.fileExists(atPath: folder.file("demo/recordings/000001/audio.wav")))
        let pages = outcome.output.split(separator: "\n").map(String.init).filter { $0.hasSuffix("/index.html") }
        try #require(pages.count == 2)
        for page in pages { #expect(access(page, R_OK) == 0) }
        let copy = String(pages[0].dropLast("/index.html".count))
        try Fieldscribe.tool("bash", "-c", "cd '\(copy)' && sha256sum -c SHA256SUMS", in: folder)
        // A browser opens the list, follows its links, and plays a word on each page.
        let driver = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "PageTests/browser.py").path
        let browser = try Fieldscribe(
            program: "python3", [driver, "--copy", folder.file("demo/stick/Fieldscribe")], in: folder
        ).wait()
        #expect(browser.status == 0 && browser.output == "ok copy\n", "\(browser.output) \(browser.errors)")
    }
}
