import FoundationEssentials
import Glibc
import Testing
import TestKit

@testable import Copying
@testable import Core
@testable import System
@testable import Transcripts

/// Files from outside are parsed by a process with limits; here by the real one.
@Suite("Confined reading") struct ConfinedReadingTests {
    init() {
        // Like in our programs: writing to a reader that has exited is an error, not a signal.
        signal(SIGPIPE, SIG_IGN)
    }

    private func reading(
        _ text: String, _ name: String, limits: ConfinedProcess.Limits = .init()
    ) throws -> IncomingFile {
        let process = ConfinedProcess(
            program: try builtProgram("fieldscribe"),
            arguments: ["read-incoming", IncomingFile.Kind(named: name).rawValue, "--name=\(name)"],
            limits: limits)
        return try IncomingFile(answer: try process.answer(to: Array(text.utf8), named: name), name: name)
    }

    private func refusal(_ body: () throws -> IncomingFile) -> DeviceError? { thrown { _ = try body() } }

    /// Corrections with a valid head, and an unexpected array.
    private func page(with others: Int) -> String {
        #"{"format":"fieldscribe-corrections","version":1,"recording":{"id":1,"sound":"\#(String(repeating: "a", count: 64))"},"#
            + #""editor":{"name":"Ann","saved":1},"segments":[],"other":["#
            + String(repeating: "1,", count: others) + "1]}"
    }

    @Test(
        "a page's corrections and a text arrive as if they were parsed here",
        arguments: ["corrections.json", "text.srt"])
    func same(name: String) throws {
        let text = name == "text.srt" ? "1\n00:00:00,000 --> 00:00:01,000\nOne two, three.\n" : page(with: 3)
        let here = try IncomingFile(Array(text.utf8), as: .init(named: name), name: name)
        let there = try reading(text, name)
        #expect(there.content == here.content && there.identity == here.identity)
    }

    @Test(
        "an error is reported in the same line",
        arguments: [("a.csv", "x"), ("corrections.json", "{"), ("b c.vtt", "no"), ("--help.srt", "no")])
    func errors(name: String, text: String) {
        let here = refusal { try IncomingFile(Array(text.utf8), as: .init(named: name), name: name) }
        #expect(here != nil && refusal { try reading(text, name) } == here)
    }

    @Test(
        "any text of half a megabyte is parsed, or refused in one line that names it",
        arguments: [
            "[", "{\"a\":", "\"", "\u{301}", "\0", "word ", "<i", "&lt;", "\n\n1\n", "00:00:01,000 --> 00:00:02,000\n",
            "<ANNOTATION>", "9,",
        ])
    func hostile(piece: String) throws {
        let text = String(repeating: piece, count: 500_000 / piece.utf8.count)
        for name in WrittenText.endings.map({ "a.\($0)" }) + ["corrections.json", "corrections.html"] {
            do { _ = try reading(text, name) } catch let error as DeviceError {
                let isLine = error.message.hasPrefix(name) && !error.message.contains("\n")
                #expect(isLine && error.message.utf8.count < 300, "\(name): \(error.message)")
                // There is memory for all of it, so failing would be a crash.
                #expect(!error.message.contains("cannot be read with"), "\(error.message)")
            }
        }
    }

    @Test("exceeding the memory limit yields one line")
    func memory() throws {
        let limits = ConfinedProcess.Limits(memory: 16 << 20)
        let text = String(repeating: "word ", count: 6_000_000)
        let error = try #require(refusal { try reading(text, "a.txt", limits: limits) })
        #expect(error.message.hasPrefix("a.txt: cannot be read with 16 MB of memory"), "\(error.message)")
    }

    @Test("exceeding the time limit yields one line")
    func time() throws {
        let process = ConfinedProcess(
            program: "/bin/sh", arguments: ["-c", "while :; do :; done"], limits: .init(cpuSeconds: 1))
        let error = try #require(thrown { _ = try process.answer(to: [0], named: "a.srt") })
        #expect(error.message.hasPrefix("a.srt: takes more than 1 s of CPU time to read"), "\(error.message)")
    }

    @Test("an answer that is too long yields one line")
    func answer() throws {
        let text = "1\n00:00:00,000 --> 00:00:01,000\n" + String(repeating: "one ", count: 100_000)
        let error = try #require(refusal { try reading(text, "a.srt", limits: .init(answer: 10_000)) })
        #expect(error.message.hasPrefix("a.srt: contains more than any recording"), "\(error.message)")
    }

    @Test(
        "a reader that crashes, never answers, or is missing yields one line",
        arguments: ["/bin/false", "/bin/true", "/bin/echo"])
    func crashed(program: String) {
        let error = refusal { try IncomingFile(confined: Array("x".utf8), as: .text, name: "a.srt", program: program) }
        #expect(error?.message.hasPrefix("a.srt: cannot be read") == true, "\(String(describing: error))")
    }

    @Test("the reader has no files, no processes, and no network")
    func confined() throws {
        let child = try ChildProcess(try builtProgram("fieldscribe"), arguments: ["read-incoming", "text"])
        // A reader that waits for its input has dropped all rights.
        try waitUntil("a system call filter") { try lines("/proc/\(child.id)/status").contains("Seccomp:\t2") }
        #expect(try lines("/proc/\(child.id)/status").contains("NoNewPrivs:\t1"))
        for task in try FileManager.default.contentsOfDirectory(atPath: "/proc/\(child.id)/task") {
            #expect(try lines("/proc/\(child.id)/task/\(task)/status").contains("Seccomp:\t2"), "thread \(task)")
        }
        let limits = try lines("/proc/\(child.id)/limits")
        for limit in ["Max open files", "Max file size"] {
            let line = try #require(limits.first { $0.hasPrefix(limit) })
            #expect(line.dropFirst(limit.count).split(separator: " ").prefix(2) == ["0", "0"], "\(line)")
        }
    }

    private func lines(_ path: String) throws -> [String] {
        String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self).split(separator: "\n").map(
            String.init)
    }
}
