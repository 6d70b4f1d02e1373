import Core
import Glibc
import System

/// Runs Debian's `minisign`, which makes and checks signatures (Ed25519), in a process with limits. Fieldscribe itself
/// contains no cryptography.
package struct Minisign: Sendable {
    /// The limits on address space and data in KiB, and on CPU time in seconds.
    private static let limits = (memory: 1 << 20, data: 128 << 10, cpu: 60)
    /// The timeout for one run, in seconds. A run takes 10 ms, but much longer on a worn card, and `RecorderKey` does
    /// not run minisign again after a timeout.
    private static let timeout = 60
    /// The maximum size of a key file or signature file in bytes. Usually, they have a few hundred bytes.
    package static let maximumFileBytes = 4_096

    private let program: String
    private let timeout: Int

    init(program: String, timeout: Int) { (self.program, self.timeout) = (program, timeout) }

    /// Finds the program.
    ///
    /// - Throws: `DeviceError` with `missing` if minisign is not installed.
    package init() throws(DeviceError) {
        guard let program = installedProgram("minisign") else {
            throw DeviceError(
                .missing, "minisign", cause: .minisign,
                "the program minisign is not installed; without it, nothing is signed or checked",
                remedy: "install it: apt install minisign")
        }
        self.init(program: program, timeout: Self.timeout)
    }

    /// Makes a key pair. The secret key has no password, because nobody could enter it.
    ///
    /// - Returns: the contents of the two key files.
    func newKeys() throws(DeviceError) -> (secretKey: [UInt8], publicKey: [UInt8]) {
        let folder = try ScratchFolder(for: "key")
        let (secretFile, publicFile) = ("\(folder.path)/secret", "\(folder.path)/public")
        let (status, _) = try run(["-G", "-W", "-f", "-s", secretFile, "-p", publicFile])
        guard status == 0 else { throw failed(status) }
        return (
            try content(ofFile: secretFile, limit: Self.maximumFileBytes),
            try content(ofFile: publicFile, limit: Self.maximumFileBytes)
        )
    }

    func publicKeyFile(of secret: borrowing FileDescriptor) throws(DeviceError) -> [UInt8] {
        let folder = try ScratchFolder(for: "key")
        let publicFile = "\(folder.path)/public"
        let (status, _) = try run(["-R", "-s", ChildProcess.file, "-p", publicFile], reading: secret.number)
        guard status == 0 else { throw failed(status) }
        return try content(ofFile: publicFile, limit: Self.maximumFileBytes)
    }

    /// Signs data.
    ///
    /// - Parameters:
    ///   - comment: a line that is signed with the data.
    ///   - secret: the opened file with the secret key.
    /// - Returns: the content of a `.minisig` file.
    func sign(_ bytes: [UInt8], comment: String, with secret: borrowing FileDescriptor) throws(DeviceError) -> String {
        let (status, answer) = try run(
            [
                "-S", "-s", ChildProcess.file, "-m", "/dev/stdin", "-x", "/dev/stdout", "-t", comment, "-c",
                "signature of a Fieldscribe recorder",
            ], giving: bytes, reading: secret.number)
        let text = String(decoding: answer, as: UTF8.self)
        guard status == 0, text.split(separator: "\n").count == 4 else { throw failed(status) }
        return text
    }

    /// Checks a signature.
    ///
    /// - Returns: the comment that was signed with the data; nil if the signature is not valid.
    package func comment(of bytes: [UInt8], signature: [UInt8], key: String) throws(DeviceError) -> String? {
        if signature.isEmpty { return nil }
        let file = try MemoryFile(signature, named: "signature", isSecret: false)
        // The file must exist until minisign has read it.
        defer { withExtendedLifetime(file) {} }
        let (status, answer) = try run(
            ["-V", "-Q", "-P", key, "-m", "/dev/stdin", "-x", ChildProcess.file], giving: bytes, reading: file.number)
        return status == 0 ? String(decoding: answer.prefix { $0 != 0x0A }, as: UTF8.self) : nil
    }

    private func run(
        _ arguments: [String], giving bytes: [UInt8] = [], reading file: Int32? = nil
    ) throws(DeviceError) -> (status: Int32, answer: [UInt8]) {
        let child = try started(arguments, file)
        let limits = Self.limits
        child.limit(
            memory: UInt64(limits.memory) << 10, data: UInt64(limits.data) << 10, cpuSeconds: UInt64(limits.cpu),
            file: UInt64(Self.maximumFileBytes))
        let deadline = MonotonicClock.nanoseconds + Int64(timeout) * 1_000_000_000
        func secondsLeft() -> Int { Int(max(0, deadline - MonotonicClock.nanoseconds + 999_999_999) / 1_000_000_000) }
        do throws(DeviceError) {
            do throws(DeviceError) {
                try rethrowing { try bytes.withUnsafeBytes { try child.pipes.write($0, timeoutSeconds: timeout) } }
            } catch {
                // minisign exited early. The exit status says why.
                guard error.status == EPIPE else { throw error }
            }
            child.pipes.closeInput()
            let answer = try child.output(upTo: 65_536, timeoutSeconds: secondsLeft())
            return (try child.exitStatus(timeoutSeconds: secondsLeft()), answer)
        } catch {
            guard error.status == ETIMEDOUT else { throw error }
            throw DeviceError(
                .failed, "minisign", status: ETIMEDOUT, cause: .minisign,
                "the program minisign did not answer within \(timeout) s",
                remedy: "install Debian's: apt install --reinstall minisign")
        }
    }

    private func started(_ arguments: [String], _ file: Int32?) throws(DeviceError) -> ChildProcess {
        do throws(DeviceError) {
            return try ChildProcess(program, arguments: arguments, showsErrors: false, file: file)
        } catch {
            // The error mentions minisign, so that it does not seem to be about the signed file.
            throw DeviceError(
                error.code, "minisign", status: error.status, cause: .minisign, "\(program): \(error.reason)",
                remedy: error.remedy)
        }
    }

    private func failed(_ status: Int32) -> DeviceError {
        DeviceError(
            .failed, "minisign", status: status, cause: .minisign,
            "the program minisign failed (status \(status))",
            remedy: "install Debian's: apt install --reinstall minisign; if signing.key is damaged, move it away")
    }

    // MARK: history

    /// Returns whether an entry's signature of the sound was made with a key.
    ///
    /// - Throws: `DeviceError` if minisign cannot be run or does not answer.
    package func verifies(_ entry: HistoryEntry, key: String) throws(DeviceError) -> Bool {
        guard let statement = entry.statement, let file = entry.signatureFile else { return false }
        let (bytes, signature) = (Array(statement.utf8), Array(file.utf8))
        if verifies(bytes, signature: signature, key: key) { return true }
        return try comment(of: bytes, signature: signature, key: key) == HistoryEntry.signedComment
    }

    /// Returns whether an entry's signature contains the ID of this key. Does not check whether the signature is valid.
    package static func hasID(of key: String, in entry: HistoryEntry) -> Bool {
        // Keys and signatures start with two letters and the 8-byte ID. In base64, digits 3 to 13 contain all but the
        // last two bits of the ID, and no bits in which `Ed` and `ED` differ.
        entry.signature?.dropFirst(2).prefix(11) == key.dropFirst(2).prefix(11)
    }
}
