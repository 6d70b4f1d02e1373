import FoundationEssentials
import Glibc
import Testing
import TestKit

@testable import Copying
@testable import Core
@testable import System
@testable import Transcripts

/// Parses files from outside with the real sandboxed process.
@Suite("Sandboxed parsing") struct SandboxedParsingTests {
    init() {
        // As in the programs, writing to a process that has exited must be an error, not a signal.
        signal(SIGPIPE, SIG_IGN)
    }

    private func parse(
        _ text: String, _ name: String, limits: SandboxedProcess.Limits = .init()
    ) throws -> IncomingFile {
        let process = SandboxedProcess(
            program: try builtProgram("fieldscribe"),
            arguments: ["read-incoming", IncomingFile.Kind(named: name).rawValue, "--name=\(name)"],
            limits: limits)
        return try IncomingFile(answer: try process.answer(to: Array(text.utf8), named: name), name: name)
    }

    private func refusal(_ body: () throws -> IncomingFile) -> DeviceError? { thrown { _ = try body() } }

    /// Returns valid corrections that also have an array of `count + 1` numbers, which no page writes.
    private func corrections(withNumbers count: Int) -> String {
        #"{"format":"fieldscribe-corrections","version":1,"recording":{"id":1,"sound":"\#(String(repeating: "a", count: 64))"},"#
            + #""editor":{"name":"Ann","saved":1},"segments":[],"other":["#
            + String(repeating: "1,", count: count) + "1]}"
    }

    @Test(
        "the sandboxed process returns the same content as parsing in this process",
        arguments: ["corrections.json", "text.srt"])
    func same(name: String) throws {
        let text =
            name == "text.srt" ? "1\n00:00:00,000 --> 00:00:01,000\nOne two, three.\n" : corrections(withNumbers: 3)
        let expected = try IncomingFile(Array(text.utf8), as: .init(named: name), name: name)
        let actual = try parse(text, name)
        #expect(actual.content == expected.content && actual.identity == expected.identity)
    }

    @Test(
        "the sandboxed process reports the same errors as parsing in this process",
        arguments: [("a.csv", "x"), ("corrections.json", "{"), ("b c.vtt", "no"), ("--help.srt", "no")])
    func errors(name: String, text: String) {
        let expected = refusal { try IncomingFile(Array(text.utf8), as: .init(named: name), name: name) }
        #expect(expected != nil && refusal { try parse(text, name) } == expected)
    }

    @Test(
        "any text of half a megabyte is parsed, or refused in one line that names the file",
        arguments: [
            "[", "{\"a\":", "\"", "\u{301}", "\0", "word ", "<i", "&lt;", "\n\n1\n", "00:00:01,000 --> 00:00:02,000\n",
            "<ANNOTATION>", "9,",
        ])
    func hostile(pattern: String) throws {
        let text = String(repeating: pattern, count: 500_000 / pattern.utf8.count)
        for name in EditedTranscript.fileExtensions.map({ "a.\($0)" }) + ["corrections.json", "corrections.html"] {
            do { _ = try parse(text, name) } catch let error as DeviceError {
                let isLine = error.message.hasPrefix(name) && !error.message.contains("\n")
                #expect(isLine && error.message.utf8.count < 300, "\(name): \(error.message)")
                // The memory suffices for all files, so this message would mean a crash.
                #expect(!error.message.contains("cannot be read with"), "\(error.message)")
            }
        }
    }

    @Test("exceeding the memory limit gives a one-line error")
    func memory() throws {
        let limits = SandboxedProcess.Limits(memory: 16 << 20)
        let text = String(repeating: "word ", count: 6_000_000)
        let error = try #require(refusal { try parse(text, "a.txt", limits: limits) })
        #expect(error.message.hasPrefix("a.txt: cannot be read with 16 MB of memory"), "\(error.message)")
    }

    @Test("exceeding the time limit gives a one-line error")
    func time() throws {
        let process = SandboxedProcess(
            program: "/bin/sh", arguments: ["-c", "while :; do :; done"], limits: .init(cpuSeconds: 1))
        let error = try #require(thrown { _ = try process.answer(to: [0], named: "a.srt") })
        #expect(error.message.hasPrefix("a.srt: takes more than 1 s of CPU time to read"), "\(error.message)")
    }

    @Test("an answer that is too long gives a one-line error")
    func answer() throws {
        let text = "1\n00:00:00,000 --> 00:00:01,000\n" + String(repeating: "one ", count: 100_000)
        let error = try #require(refusal { try parse(text, "a.srt", limits: .init(answer: 10_000)) })
        #expect(error.message.hasPrefix("a.srt: contains more than any recording"), "\(error.message)")
    }

    @Test(
        "a process that fails or has no valid answer gives a one-line error",
        arguments: ["/bin/false", "/bin/true", "/bin/echo"])
    func crashed(program: String) {
        let error = refusal { try IncomingFile(confined: Array("x".utf8), as: .text, name: "a.srt", program: program) }
        #expect(error?.message.hasPrefix("a.srt: cannot be read") == true, "\(String(describing: error))")
    }

    @Test("the sandboxed process cannot open files, start processes or use the network")
    func confined() throws {
        let child = try ChildProcess(try builtProgram("fieldscribe"), arguments: ["read-incoming", "text"])
        // The process gives up its rights before it reads its input.
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
