import Core
import Glibc
import Inference
import Platform

/// A folder with the network that tells voices apart, as the package fieldscribe-speakers installs it.
package struct SpeakerModel: Hashable, Sendable {
    /// The name of its folder among other models.
    package static let usual = "speakers"

    /// The folder, without a slash at its end.
    package let path: String

    /// The network.
    package var network: String { "\(path)/campplus.ort" }

    /// - Parameter path: a folder, whether there is a model in it or not.
    package init(path: String) { self.path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path }

    /// Checks that network and runtime are there, without reading them.
    ///
    /// - Parameter others: folders beside which a runtime is looked for, too.
    /// - Throws: `DeviceError` with `missing` or `denied`, naming the file.
    package func check(besides others: [String] = []) throws(DeviceError) {
        guard access(network, R_OK) == 0 else {
            let isMissing = errno == ENOENT || errno == ENOTDIR
            throw DeviceError(
                isMissing ? .missing : .denied, "access", status: errno, on: network,
                "who spoke cannot be told: the model for it \(isMissing ? "is not there" : "cannot be read")",
                remedy:
                    "install the package fieldscribe-speakers, name its folder with recognizer.speaker-model, or set "
                    + "recognizer.speakers = no")
        }
        guard runtimes(besides: others).isEmpty else { return }
        throw DeviceError(
            .missing, "access", status: ENOENT,
            "who spoke cannot be told: libonnxruntime: not installed, and not beside \(path)",
            remedy: "install the package libonnxruntime1.21 or fieldscribe-onnxruntime")
    }

    func runtimes(besides others: [String]) -> [String] {
        let own = OnnxRuntime.candidates(besides: path)
        return own + others.flatMap { OnnxRuntime.candidates(besides: $0) }.filter { !own.contains($0) }
    }
}
