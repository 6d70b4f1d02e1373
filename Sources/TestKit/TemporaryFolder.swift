import FoundationEssentials
import Glibc

/// A folder of a test's own, removed with all that is in it when the last reference goes.
package final class TemporaryFolder: Sendable {
    package let path: String

    package init() {
        let parent = FileManager.default.temporaryDirectory.path
        var template = Array("\(parent)/fieldscribe-XXXXXX".utf8CString)
        path = template.withUnsafeMutableBufferPointer { template in
            guard let made = template.baseAddress.flatMap(mkdtemp) else { preconditionFailure("no folder for tests") }
            return String(cString: made)
        }
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// The path of a file in it.
    package func file(_ name: String) -> String { "\(path)/\(name)" }

    /// Makes a program in it that a test will run, and returns its path.
    ///
    /// Another process writes it: what this one has written itself is busy (ETXTBSY) for as long as a child that a test beside
    /// this one has just forked still holds the open file.
    /// - Parameter script: what follows the line that names the shell.
    package func program(_ name: String, _ script: String) throws -> String {
        let (path, text) = (file(name), file(".\(name.split(separator: "/").last ?? "").text"))
        try Data("#!/bin/sh\n\(script)\n".utf8).write(to: URL(filePath: text))
        defer { unlink(text) }
        let words: [String] = ["install", "-D", "-m", "755", text, path]
        let strings = words.map { strdup($0) }
        defer { strings.forEach { free($0) } }
        var id = pid_t()
        var status: Int32 = -1
        guard posix_spawnp(&id, "install", nil, nil, strings + [nil], environ) == 0 else {
            throw CannotMakeProgram(path: path)
        }
        while waitpid(id, &status, 0) < 0, errno == EINTR {}
        guard status == 0 else { throw CannotMakeProgram(path: path) }
        return path
    }

    package struct CannotMakeProgram: Error {
        package let path: String
    }
}
