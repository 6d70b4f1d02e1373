import Core
import Glibc
import System

extension DeviceError {
    /// The programs that Copying runs, as `operation` names them.
    package enum Program: String { case age, minisign }

    /// The program that failed, or refused its input; nil for every other error.
    package var program: Program? { Program(rawValue: operation) }
}

/// Debian's `age`, which seals and opens: a process of its own with limits. Fieldscribe has no cryptography of its own.
package struct Age: Sendable {
    /// KiB of address space and of data, and seconds of CPU. It may write no file: what it makes, it passes to us.
    private static let limits = (memory: 4 << 20, data: 256 << 10, cpu: 21_600)

    /// Seconds without anything from it, or into it.
    static let patience = 120

    /// What every sealed file begins with.
    static let mark = Array("age-encryption.org/v1\n".utf8)

    private let program: String

    /// - Throws: `DeviceError` with `missing` where it is not installed.
    package init() throws(DeviceError) {
        guard let program = Self.program else {
            throw DeviceError(
                .missing, "age", "the program age is not installed, and nothing is sealed, opened or copied without it",
                remedy: "install it: apt install age")
        }
        self.program = program
    }

    /// Its version, as it tells it.
    func version() throws(DeviceError) -> String {
        try told(by: ["--version"]).text
    }

    /// Has it take these public keys, without sealing anything.
    ///
    /// - Throws: `DeviceError` with `unsupported` for the first that it does not take.
    package func check(_ recipients: [Recipient]) throws(DeviceError) {
        if try told(by: Self.recipients(recipients)).status == 0 { return }
        for (index, recipient) in recipients.enumerated() {
            let (status, text) = try told(by: Self.recipients([recipient]))
            guard status != 0 else { continue }
            throw DeviceError(
                .unsupported, "age", on: "recipient \(index + 1) of \(recipients.count) (\(recipient.short))",
                "age does not take it: \(Self.reason(text))", remedy: "correct export.recipients")
        }
    }

    /// Begins to seal.
    ///
    /// - Parameter take: called with what is sealed, in its order; what is passed is there only during the call.
    package func sealer(
        for recipients: [Recipient], take: @escaping (UnsafeRawBufferPointer) throws(DeviceError) -> Void
    ) throws(DeviceError) -> Sealer {
        Sealer(try child(Self.recipients(recipients)), take: take)
    }

    /// Begins to open what was sealed.
    ///
    /// - Parameters:
    ///   - key: opens it.
    ///   - take: called with what is opened, in its order.
    package func opener(
        with key: OpeningKey, take: @escaping (UnsafeRawBufferPointer) throws(DeviceError) -> Void
    ) throws(DeviceError) -> Sealer {
        Sealer(try child(["-d", "-i", ChildProcess.file], file: key.number), isSealing: false, take: take)
    }

    private static func recipients(_ recipients: [Recipient]) -> [String] {
        recipients.flatMap { ["-r", $0.text] }
    }

    private func child(
        _ arguments: [String], file: Int32? = nil, mergesErrors: Bool = false
    ) throws(DeviceError) -> ChildProcess {
        let limits = Self.limits
        // The recorder's sandbox has no shell: where nothing but what is sealed is wanted of it, there is none.
        guard mergesErrors else {
            let child = try ChildProcess(program, arguments: arguments, showsErrors: false, file: file)
            child.limit(
                memory: UInt64(limits.memory) << 10, data: UInt64(limits.data) << 10, cpuSeconds: UInt64(limits.cpu))
            return child
        }
        return try ChildProcess(
            "/bin/sh",
            arguments: [
                "-c",
                "ulimit -v \(limits.memory); ulimit -d \(limits.data); ulimit -t \(limits.cpu); ulimit -c 0; "
                    + "ulimit -f 0; exec \"$@\" 2>&1 >/dev/null",
                "sh", program,
            ] + arguments, showsErrors: false)
    }

    /// Runs it with nothing to seal; returns its exit status and what it says.
    private func told(by arguments: [String]) throws(DeviceError) -> (status: Int32, text: String) {
        let isQuestion = arguments.first == "--version"
        let child = try child(arguments, mergesErrors: !isQuestion)
        child.closeInput()
        var text: [UInt8] = []
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 4_096, alignment: 16)
        defer { room.deallocate() }
        while case let count = try child.read(into: room, timeoutSeconds: Self.patience), count > 0 {
            if text.count < 4_096 { text += room[..<count] }
        }
        let status = try child.exitStatus(timeoutSeconds: Self.patience)
        let line = String(decoding: text, as: UTF8.self).split(separator: "\n").first.map(String.init) ?? ""
        return (status, line)
    }

    private static func reason(_ text: String) -> String {
        let prefix = "age: error: "
        let told = text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : text
        let shown = told.prefix(300).filter { $0.isASCII && !$0.isNewline }
        return shown.isEmpty ? "it does not start" : PrivateKey.hidden(in: shown)
    }

    private static var program: String? {
        let folders = getenv("PATH").map { String(cString: $0) } ?? "/usr/local/bin:/usr/bin"
        return folders.split(separator: ":").map { "\($0)/age" }.first { access($0, X_OK) == 0 }
    }
}
