import FoundationEssentials
import Glibc

/// A temporary folder for a test, removed with its content after the last reference.
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

    deinit {
        var failure: (any Error)?
        // A killed process may still be removing its own files there, which makes a removal fail.
        for _ in 1...100 where access(path, F_OK) == 0 {
            do { try FileManager.default.removeItem(atPath: path) } catch { failure = error }
        }
        if access(path, F_OK) == 0, let failure { print("\(path) cannot be removed: \(failure)") }
    }

    package func file(_ name: String) -> String { "\(path)/\(name)" }

    /// Makes an executable shell script in it, and returns its path.
    ///
    /// Another process (install) writes it: a file that this process wrote stays busy (ETXTBSY) while a concurrently
    /// forked child holds it open.
    /// - Parameter script: The lines after the `#!` line.
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
