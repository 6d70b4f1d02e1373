import Core
import System
import Transcripts

extension IncomingFile {
    /// Reads a file in a confined process. Blocks.
    ///
    /// - Parameters:
    ///   - name: the file's; its ending tells the format of a text.
    ///   - program: one that has the command `ConfinedProcess.command`.
    /// - Throws: `DeviceError` in one line that names the file.
    package init(
        confined bytes: [UInt8], as kind: Kind, name: String, program: String = "/proc/self/exe"
    ) throws(DeviceError) {
        let process = ConfinedProcess(
            program: program, arguments: [ConfinedProcess.command, kind.rawValue, "--name=\(name)"])
        try self.init(answer: process.answer(to: bytes, named: name), name: name)
    }

    /// Has a confined process try whether a file can be read within its limits, before the caller reads it. Blocks.
    ///
    /// - Throws: `DeviceError` if it cannot.
    package static func check(
        confined bytes: [UInt8], as kind: Kind, name: String, program: String
    ) throws(DeviceError) {
        // What is small needs little, and a thousand copies would start two thousand processes.
        guard bytes.count > 1 << 20 else { return }
        let process = ConfinedProcess(
            program: program, arguments: [ConfinedProcess.command, kind.rawValue, "--name=\(name)"])
        try check(answer: process.answer(to: bytes, named: name), name: name)
    }
}
