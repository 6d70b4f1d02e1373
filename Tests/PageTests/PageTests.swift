import FoundationEssentials
import Glibc
import Testing
import TestKit

@testable import Transcripts

/// The pages in real browsers: headless Chromium, driven by WebDriver, and Firefox, driven by Marionette.
@Suite("The pages in browsers") struct PageTests {
    static let checks = [
        "a click on a word plays from there", "the current word is highlighted", "keys", "help", "search",
        "search folds case and accents", "links", "slider and overview", "waveform", "gaps and marks", "confidence",
        "index",
        "accuracy plot",
        "ten thousand words", "missing audio", "hostile text", "no network", "narrow", "contrast", "dark",
        "reduced motion", "print", "labels", "axe-core", "selecting text", "words to review are played",
        "keys after using the menu",
        "editing", "undo and redo", "edits are kept", "replace", "uncertain words", "saving and loading",
        "notes, marks and quotations", "selected words", "about the recording", "learning keys", "silence is skipped",
        "people are named and chosen", "the toolbar", "the button Edit", "the title in the heading", "a speaker's menu",
        "lines without speech", "a page without words", "an unclear line", "lines are assigned to other speakers",
        "lines are split and joined",
        "speakers' colours",
        "a line is confirmed", "everything can be undone", "documents are downloaded", "notes in a side panel",
        "a single word is played", "three hours",
    ]

    /// For each check, the driver's result: empty if it passed. The browser runs once for all of them.
    static let results: [String: String] = {
        do {
            let pages = try Pages()
            let soxOutput = run(
                "sox -n -r 16000 -b 16 -c 1 '\(pages.folder.file("talk/audio.flac"))' synth 62 pluck A3 gain -9")
            let driver = #filePath.split(separator: "/").dropLast().map { "/" + $0 }.joined() + "/browser.py"
            let shots = ProcessInfo.processInfo.environment["FIELDSCRIBE_SCREENSHOTS"] ?? ""
            let output = run("python3 '\(driver)' '\(pages.folder.path)' \(shots) 2>&1")
            var results = ["": soxOutput + output]
            for line in output.split(separator: "\n").map(String.init) {
                if line.hasPrefix("ok ") { results[String(line.dropFirst(3))] = "" }
                if line.hasPrefix("note ") { print(line) }
                if line.hasPrefix("FAIL "), let name = line.dropFirst(5).split(separator: ":").first {
                    results[String(name)] = line
                }
            }
            return results
        } catch {
            return ["": "\(error)"]
        }
    }()

    @Test("the page works", arguments: checks)
    func check(name: String) {
        let result = Self.results[name]
        #expect(result == "", "\(result ?? "the check did not run: \(Self.results[""] ?? "")")")
    }

    @Test("in Firefox, a correction is kept, downloaded, and shown again from the file beside the page")
    func firefox() throws {
        let pages = try Pages()
        let driver = #filePath.split(separator: "/").dropLast().map { "/" + $0 }.joined() + "/firefox.py"
        let output = run("python3 '\(driver)' '\(pages.folder.path)' 2>&1")
        if output.hasPrefix("skipped: ") { return print(output) }
        let checks = ["editing", "saving and loading", "zooming and copying"]
        #expect(output == checks.map { "ok \($0) in Firefox\n" }.joined())
    }

    @Test("a page lists the digests of its styles and script, so that nothing else runs")
    func digests() throws {
        let pages = try Pages()
        for name in ["talk/index.html", "index.html"] {
            let page = String(decoding: try Data(contentsOf: URL(filePath: pages.folder.file(name))), as: UTF8.self)
            var parts: [Substring] = []
            for (open, close) in [("<style>", "</style>"), ("<script>", "</script>")] {
                parts += page.split(separator: open).dropFirst().compactMap { $0.split(separator: close).first }
            }
            #expect(parts.count == 3)
            for part in parts {
                let file = pages.folder.file("part")
                try Data(part.utf8).write(to: URL(filePath: file))
                let digest = run(
                    "python3 -c 'import base64, hashlib, sys; sys.stdout.write(base64.b64encode("
                        + "hashlib.sha256(sys.stdin.buffer.read()).digest()).decode())' < '\(file)'")
                #expect(page.contains("'sha256-\(digest)'"), "the correct digest is \(digest)")
            }
        }
    }
}

/// Runs a shell command; returns its output.
func run(_ command: String) -> String {
    guard let pipe = popen(command, "r") else { return "popen failed" }
    var output: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while case let count = fread(&buffer, 1, buffer.count, pipe), count > 0 { output += buffer[..<count] }
    _ = pclose(pipe)
    return String(decoding: output, as: UTF8.self)
}
