import FoundationEssentials
import Glibc

/// A temporary folder for a test. It is removed with its contents when the last reference is released.
package final class TemporaryFolder: Sendable {
    package let path: String

    package init() {
        let parent = FileManager.default.temporaryDirectory.path
        var template = Array("\(parent)/fieldscribe-XXXXXX".utf8CString)
        path = template.withUnsafeMutableBufferPointer { template in
            guard let path = template.baseAddress.flatMap(mkdtemp) else {
                preconditionFailure("cannot create a folder for tests")
            }
            return String(cString: path)
        }
    }

    deinit {
        var failure: (any Error)?
        // Retries, because the removal fails while a killed process is still removing its own files.
        for _ in 1...100 where access(path, F_OK) == 0 {
            do { try FileManager.default.removeItem(atPath: path) } catch { failure = error }
        }
        if access(path, F_OK) == 0, let failure { print("\(path) cannot be removed: \(failure)") }
    }

    package func file(_ name: String) -> String { "\(path)/\(name)" }

    /// Creates an executable shell script in the folder, and returns its path.
    ///
    /// Another process (`install`) writes the script. If this process wrote it, the script could not be executed
    /// (ETXTBSY) while a concurrently forked child has it open.
    ///
    /// - Parameter script: the lines after the `#!` line.
    package func program(_ name: String, _ script: String) throws -> String {
        let (path, text) = (file(name), file(".\(name.split(separator: "/").last ?? "").text"))
        try Data("#!/bin/sh\n\(script)\n".utf8).write(to: URL(filePath: text))
        defer { unlink(text) }
        let arguments: [String] = ["install", "-D", "-m", "755", text, path]
        let strings = arguments.map { strdup($0) }
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
