import Core
import System

/// Runs Debian's `age`, which encrypts and decrypts, in a process with limits. Fieldscribe itself contains no
/// cryptography.
package struct Age: Sendable {
    /// The limits on address space and data in KiB, and on CPU time in seconds. The process may not write files.
    private static let limits = (memory: 4 << 20, data: 256 << 10, cpu: 21_600)

    /// The number of seconds without input or output after which age is stopped.
    static let timeout = 120

    /// The first bytes of every encrypted file.
    static let magic = Array("age-encryption.org/v1\n".utf8)

    private let program: String

    /// Finds the program.
    ///
    /// - Throws: `DeviceError` with `missing` if age is not installed.
    package init() throws(DeviceError) {
        guard let program = installedProgram("age") else {
            throw DeviceError(
                .missing, "age", cause: .age,
                "the program age is not installed; without it, nothing is sealed, opened or copied",
                remedy: "install it: apt install age")
        }
        self.program = program
    }

    /// Checks public keys without encrypting anything.
    ///
    /// - Throws: `DeviceError` with `unsupported` for the first key that age rejects, or if age rejects the keys only
    ///   together.
    package func check(_ recipients: [Recipient]) throws(DeviceError) {
        if recipients.isEmpty { return }
        let (status, message) = try runWithoutInput(Self.recipients(recipients))
        if status == 0 { return }
        for (index, recipient) in recipients.enumerated() {
            let (status, message) = try runWithoutInput(Self.recipients([recipient]))
            guard status != 0 else { continue }
            throw DeviceError(
                .unsupported, "age", cause: .age,
                on: "recipient \(index + 1) of \(recipients.count) (\(recipient.short))",
                "age rejects it: \(Self.reason(message))", remedy: "correct export.recipients")
        }
        // For example, age does not encrypt for a post-quantum key and others together.
        throw DeviceError(
            .unsupported, "age", cause: .age, on: "\(recipients.count) recipients",
            "age accepts each of them, but not all together: \(Self.reason(message))",
            remedy: "correct export.recipients")
    }

    /// Starts an encryption.
    ///
    /// - Parameter consume: called with the encrypted bytes in order; they are valid only during the call.
    package func encryptor(
        for recipients: [Recipient], consume: @escaping (UnsafeRawBufferPointer) throws(DeviceError) -> Void
    ) throws(DeviceError) -> AgeStream {
        AgeStream(try child(Self.recipients(recipients)), consume: consume)
    }

    /// Starts a decryption.
    ///
    /// - Parameter consume: called with the decrypted bytes in order; they are valid only during the call.
    package func decryptor(
        with key: DecryptionKey, consume: @escaping (UnsafeRawBufferPointer) throws(DeviceError) -> Void
    ) throws(DeviceError) -> AgeStream {
        AgeStream(
            try child(["-d", "-i", ChildProcess.file], file: key.fileDescriptor), isEncrypting: false,
            consume: consume)
    }

    private static func recipients(_ recipients: [Recipient]) -> [String] {
        recipients.flatMap { ["-r", $0.text] }
    }

    private func child(_ arguments: [String], file: Int32? = nil) throws(DeviceError) -> ChildProcess {
        let limits = Self.limits
        let child = try ChildProcess(program, arguments: arguments, showsErrors: false, file: file)
        child.limit(
            memory: UInt64(limits.memory) << 10, data: UInt64(limits.data) << 10, cpuSeconds: UInt64(limits.cpu))
        return child
    }

    /// Runs age without input and returns its exit status and the first line of its errors.
    private func runWithoutInput(_ arguments: [String]) throws(DeviceError) -> (status: Int32, message: String) {
        let limits = Self.limits
        // Only checks of keys use a shell, because they need age's errors. The recorder's sandbox has no shell.
        let child = try ChildProcess(
            "/bin/sh",
            arguments: [
                "-c",
                "ulimit -v \(limits.memory); ulimit -d \(limits.data); ulimit -t \(limits.cpu); ulimit -c 0; "
                    + "ulimit -f 0; exec \"$@\" 2>&1 >/dev/null",
                "sh", program,
            ] + arguments, showsErrors: false)
        child.pipes.closeInput()
        let output = try child.output(upTo: 65_536, timeoutSeconds: Self.timeout)
        let status = try child.exitStatus(timeoutSeconds: Self.timeout)
        let line = String(decoding: output, as: UTF8.self).split(separator: "\n").first.map(String.init) ?? ""
        return (status, line)
    }

    private static func reason(_ text: String) -> String {
        let prefix = "age: error: "
        let message = text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : text
        let excerpt = message.prefix(300).filter { $0.isASCII && !$0.isNewline }
        return excerpt.isEmpty ? "it does not start" : PrivateKey.hidden(in: excerpt)
    }
}
