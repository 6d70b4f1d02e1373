import Core
import Glibc
import System

/// A ggml model for whisper.cpp, which the user provides.
package struct WhisperModel: Hashable, Sendable {
    let path: String

    package init(path: String) { self.path = path }

    /// The first executable `whisper-cli` in PATH, or the first one if none is executable; nil if there is none.
    package static var program: String? {
        let folders = environmentVariable("PATH") ?? "/usr/local/bin:/usr/bin"
        let candidates: [String] = folders.split(separator: ":").map { "\($0)/whisper-cli" }
        let installed = candidates.filter { access($0, F_OK) == 0 }
        return installed.first { access($0, X_OK) == 0 } ?? installed.first
    }

    /// Checks that the program is installed and the file is a model, without loading it. Returns the program's path.
    ///
    /// - Throws: `DeviceError` with `missing`, `denied` or `damaged` for the program or file.
    @discardableResult
    package func check() throws(DeviceError) -> String {
        guard let program = Self.program else {
            throw DeviceError(
                .missing, "access", status: ENOENT, "whisper-cli: not on the PATH",
                remedy: "install whisper.cpp, or set recognizer.engine = pocketsphinx")
        }
        guard access(program, X_OK) == 0 else {
            throw DeviceError(
                .denied, "access", status: errno, on: program, "may not be run here",
                remedy:
                    "for the service, whose sandbox restricts programs, add it to ExecPaths= (systemctl edit "
                    + "fieldscribe), or set recognizer.engine = auto")
        }
        let magic: [UInt8]
        do throws(DeviceError) { magic = try beginning(ofFile: path, count: 4) } catch {
            throw DeviceError(
                error.code, error.operation, status: error.status, on: path,
                "this whisper model \(error.code == .denied ? "cannot be read" : "does not exist")",
                remedy: "correct recognizer.whisper-model")
        }
        // 0x67676d6c, little-endian.
        guard magic == Array("lmgg".utf8) else {
            throw DeviceError(
                .damaged, "read", on: path, "not a whisper.cpp model",
                remedy: "set recognizer.whisper-model to a file such as ggml-base.en.bin")
        }
        return program
    }
}
