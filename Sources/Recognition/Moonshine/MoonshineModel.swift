import Core
import Glibc
import System

/// A folder with Moonshine's networks and tokenizer, as installed by the package fieldscribe-moonshine-tiny-en.
package struct MoonshineModel: Hashable, Sendable {
    /// The folder where packages install models.
    package static let packaged = "/usr/share/fieldscribe/models"
    /// The default model.
    package static let usual = "moonshine-tiny-en"
    /// The maximum length of a group of utterances that the engine reads as one, in seconds.
    package static let longestGroupSeconds = 12
    /// The memory in megabytes below which a board keeps a single copy of the weights, and uses `fast`.
    package static let smallMegabytes = 700

    /// The folder, without a trailing slash.
    package let path: String

    var encoder: String { "\(path)/encoder_model.ort" }
    var decoder: String { "\(path)/decoder_model_merged.ort" }
    var tokenizer: String { "\(path)/tokenizer.bin" }
    /// The path of the digests of the other files. A folder that a user has assembled may lack this file.
    package var digests: String { ModelDigests(of: path).path }

    /// The short name, which is the folder's name.
    package var name: String { lastName(of: path) }

    /// - Parameter path: a folder, with or without a model.
    package init(path: String) { self.path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path }

    /// Whether the folder contains a model of this kind, complete or not.
    package var isThere: Bool { access(encoder, F_OK) == 0 || access(decoder, F_OK) == 0 }

    /// Checks that every file and the runtime exist, without reading them.
    ///
    /// - Throws: `DeviceError` with `missing` or `denied` for the file.
    package func check() throws(DeviceError) {
        for file in [encoder, decoder, tokenizer] {
            try checkModelFile(
                file, "the recognizer's model", missing: "lacks this file",
                remedy:
                    "install the package fieldscribe-moonshine-tiny-en, or name a complete model with recognizer.model"
            )
        }
    }

    /// Checks that a runtime exists, without loading it.
    ///
    /// - Throws: `DeviceError` with `missing`.
    package func checkRuntime() throws(DeviceError) {
        try OnnxRuntime.check(OnnxRuntime.candidates(besides: path), besides: path)
    }

    /// Compares the digest of every file listed in `digests`.
    ///
    /// - Throws: `DeviceError` with `damaged` for the first file that differs.
    func verify() throws(DeviceError) {
        try check()
        try ModelDigests(of: path).verify()
    }
}
