import Core
import System
import Transcripts

extension IncomingFile {
    /// Parses a file in a sandboxed process. Blocks.
    ///
    /// - Parameters:
    ///   - name: the file's name; its extension determines the format of a text.
    ///   - program: a program that runs `SandboxedProcess.serve`.
    /// - Throws: `DeviceError` that names the file.
    package init(
        confined bytes: [UInt8], as kind: Kind, name: String, program: String = "/proc/self/exe"
    ) throws(DeviceError) {
        try self.init(answer: Self.answer(to: bytes, as: kind, name, program), name: name)
    }

    /// Checks in a sandboxed process that a file can be parsed within the process's limits. Blocks.
    package static func check(
        confined bytes: [UInt8], as kind: Kind, name: String, program: String
    ) throws(DeviceError) {
        // Small files need little memory, and two processes for each of a thousand gathered copies would take too long.
        guard bytes.count > 1 << 20 else { return }
        try check(answer: answer(to: bytes, as: kind, name, program), name: name)
    }

    private static func answer(
        to bytes: [UInt8], as kind: Kind, _ name: String, _ program: String
    ) throws(DeviceError) -> [UInt8] {
        try SandboxedProcess(
            program: program, arguments: [SandboxedProcess.command, kind.rawValue, "--name=\(name)"]
        ).answer(to: bytes, named: name)
    }
}
