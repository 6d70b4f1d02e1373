import FoundationEssentials
import Glibc
import Synchronization
import Testing
import TestKit

@testable import Core
@testable import System

@Suite struct DurableFilesTests {
    let folder = TemporaryFolder()

    private func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: folder.path) }
    private func content(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

    @Test("a file is created, then replaced, and no other file remains", arguments: ["", "new", "longer than old"])
    func replaces(text: String) throws {
        let path = folder.file("state")
        try durableReplace(path: path, with: "old")
        #expect(try content(path) == "old")
        try durableReplace(path: path, with: text, mode: 0o600)
        #expect(try content(path) == text)
        #expect(try names() == ["state"])
        var status = stat()
        #expect(stat(path, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
    }

    @Test(
        "a FIFO, device or folder is not replaced, and the error names its kind; a link is replaced, its target is not",
        arguments: [
            (#"mkfifo "$P""#, "a FIFO"), (#"mknod "$P" c 1 3"#, "a device"), (#"mkdir "$P""#, "a folder"),
            (#"ln -s "$T" "$P""#, nil),
        ])
    func foreign(command: String, kind: String?) throws {
        let (path, target) = (folder.file("path"), folder.file("target"))
        try durableReplace(path: target, with: "theirs")
        let shell = try #require(popen("P='\(path)'; T='\(target)'; \(command) 2>&1", "r"))
        // Only root may create devices.
        guard pclose(shell) == 0 else { return #expect(geteuid() != 0 && command.hasPrefix("mknod")) }
        let before = FileStatus(path)
        let error = thrown { try durableReplace(path: path, with: "ours") }
        #expect(try content(target) == "theirs")
        guard let kind else { return #expect(try error == nil && content(path) == "ours") }
        #expect(
            error?.code == .unsupported && error?.message.contains("is \(kind), not a file") == true, "\(error as Any)")
        #expect(FileStatus(path) == before)
        #expect(try names().sorted() == ["path", "target"])
    }

    @Test("after a failure, the old content stays, and no other file remains")
    func failureKeepsOldContent() throws {
        let path = folder.file("state")
        try makeFolder(path)
        try durableReplace(path: "\(path)/inner", with: "old")
        #expect(throws: DeviceError.self) { try durableReplace(path: path, with: "new") }
        #expect(try names() == ["state"])
        #expect(try content("\(path)/inner") == "old")
        let error = try #require(
            thrown {
                try durableReplace(path: folder.file("none/state"), with: "new")
            })
        #expect(error.code == .missing)
    }

    @Test("a concurrent reader sees only complete contents")
    func concurrentReader() async throws {
        let path = folder.file("state")
        let texts = ["a", "b"].map { String(repeating: $0, count: 100_000) }
        try durableReplace(path: path, with: texts[0])
        let flag = Flag()
        async let replacements: Void = onThread(named: "replace") {
            for round in 1...50 { try durableReplace(path: path, with: texts[round % 2]) }
            flag.isSet.store(true, ordering: .releasing)
        }
        async let unexpectedContent = onThread(named: "read") {
            var reads = 0
            while !flag.isSet.load(ordering: .acquiring) || reads < 10 {
                let text = try String(contentsOfFile: path, encoding: .utf8)
                if !texts.contains(text) { return "\(text.count) characters, \(text.prefix(3))...\(text.suffix(3))" }
                reads += 1
            }
            return ""
        }
        try await replacements
        #expect(try await unexpectedContent == "")
        #expect(try content(path) == texts[0])
    }

    @Test("a folder is created with its parents; an existing folder is kept", arguments: ["a", "a/b/c", "a/b/c/"])
    func makesFolders(name: String) throws {
        let path = folder.file(name)
        try makeFolder(path)
        try durableReplace(path: "\(path)/kept", with: "kept")
        try makeFolder(path)
        #expect(try content("\(path)/kept") == "kept")
    }

    @Test("a file where a folder is needed is an error that names the path", arguments: ["file", "file/below"])
    func fileInTheWay(name: String) throws {
        try durableReplace(path: folder.file("file"), with: "text")
        let error = try #require(thrown { try makeFolder(folder.file(name)) })
        #expect(error.message.hasPrefix(folder.file(name) + ": "))
        #expect(error.exitStatus == 1)
        #expect(try content(folder.file("file")) == "text")
    }
}

private final class Flag: Sendable {
    let isSet = Atomic<Bool>(false)
}
