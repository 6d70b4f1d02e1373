import Core
import Glibc
import System

/// A folder with the two networks and their tokens, as the package fieldscribe-moonshine-tiny-en installs it.
package struct MoonshineModel: Hashable, Sendable {
    /// Where packages put such models, a folder each.
    package static let packaged = "/usr/share/fieldscribe/models"
    /// The model that is taken where none is named.
    package static let usual = "moonshine-tiny-en"

    /// The folder, without a slash at its end.
    package let path: String

    /// The network that hears.
    var encoder: String { "\(path)/encoder_model.ort" }
    /// The network that writes.
    var decoder: String { "\(path)/decoder_model_merged.ort" }
    /// What the tokens stand for.
    var tokenizer: String { "\(path)/tokenizer.bin" }
    /// Digests of the other files, as sha256sum writes them; a folder that somebody put together may have none.
    package var digests: String { ModelDigests(of: path).path }

    /// Its short name: that of its folder.
    package var name: String { path.split(separator: "/").last.map(String.init) ?? path }

    /// - Parameter path: a folder, whether there is a model in it or not.
    package init(path: String) { self.path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path }

    /// Whether the folder holds a model of this kind, whole or not.
    package var isThere: Bool { access(encoder, F_OK) == 0 || access(decoder, F_OK) == 0 }

    /// Checks that every file and the runtime are there, without reading them.
    ///
    /// - Throws: `DeviceError` with `missing` or `denied`, naming the file.
    package func check() throws(DeviceError) {
        for file in [encoder, decoder, tokenizer] {
            try checkModelFile(
                file, "the recognizer's model", missing: "lacks this file",
                remedy:
                    "install the package fieldscribe-moonshine-tiny-en, or name a complete model with recognizer.model"
            )
        }
    }

    /// Checks that a runtime is there, which is not loaded.
    ///
    /// - Throws: `DeviceError` with `missing`.
    package func checkRuntime() throws(DeviceError) {
        try OnnxRuntime.check(OnnxRuntime.candidates(besides: path), besides: path)
    }

    /// Reads every file that `digests` names and compares.
    ///
    /// - Throws: `DeviceError` with `damaged`, naming the first file that is not what it was when the model was packed.
    package func verify() throws(DeviceError) {
        try check()
        try ModelDigests(of: path).verify()
    }
}
