import Core
import Glibc
import System

extension OnnxRuntime {
    private static let name = "libonnxruntime.so"
    /// The folder of the package fieldscribe-onnxruntime.
    private static let packaged = "/usr/lib/fieldscribe"

    /// Returns the paths of installed runtimes, in order of preference: the one beside the model, the one from
    /// Fieldscribe's package, and those from the system.
    static func candidates(beside folder: String) -> [String] {
        let preferredPaths: [String] = ["\(folder)/\(name).1", "\(packaged)/\(name).1"].filter { (path: String) in
            access(path, R_OK) == 0
        }
        return preferredPaths
            + systemFolders.flatMap { folder in
                // Debian installs only `libonnxruntime.so.1.21`, without a link `libonnxruntime.so.1`.
                let names = ((try? names(inFolder: folder)) ?? []).filter { $0.hasPrefix("\(name).1") }
                return names.sorted { ($0.utf8.count, $1) < ($1.utf8.count, $0) }.prefix(1).map { "\(folder)/\($0)" }
            }
    }

    /// Checks that there is a candidate, without loading it.
    ///
    /// - Parameters:
    ///   - path: the model's folder, for the error message.
    ///   - what: a prefix for the error message.
    /// - Throws: `DeviceError` with `missing`.
    static func check(_ candidates: [String], beside path: String, _ what: String = "") throws(DeviceError) {
        guard candidates.isEmpty else { return }
        throw DeviceError(
            .missing, "access", status: ENOENT, "\(what)libonnxruntime: not installed, and not found beside \(path)",
            remedy: "install the package libonnxruntime1.21 or fieldscribe-onnxruntime")
    }

    private static var systemFolders: [String] {
        #if arch(arm64)
            let triple = "aarch64-linux-gnu"
        #elseif arch(x86_64)
            let triple = "x86_64-linux-gnu"
        #else
            let triple = "arm-linux-gnueabihf"
        #endif
        return ["/usr/local/lib", "/usr/lib/\(triple)", "/usr/lib"]
    }
}
