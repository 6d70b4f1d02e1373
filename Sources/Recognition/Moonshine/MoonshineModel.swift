import Core
import Glibc
import System

/// A folder with Moonshine's networks and tokenizer, as installed by the package fieldscribe-moonshine-tiny-en.
package struct MoonshineModel: Hashable, Sendable {
    /// The folder where packages install models.
    package static let packaged = "/usr/share/fieldscribe/models"
    package static let defaultName = "moonshine-tiny-en"
    /// The maximum length of a group of utterances that the engine decodes as one, in seconds.
    package static let maximumGroupSeconds = 12
    /// The maximum length in seconds of a group and the audio before it, which `final` decodes together.
    package static let maximumJoinedSeconds = 15
    /// The memory in megabytes below which a board keeps a single copy of the weights and uses the profile `fast`.
    package static let smallBoardMegabytes = 700

    /// The folder, without a trailing slash.
    package let path: String

    var encoder: String { "\(path)/encoder_model.ort" }
    var decoder: String { "\(path)/decoder_model_merged.ort" }
    var tokenizer: String { "\(path)/tokenizer.bin" }
    /// A folder that a user has assembled may lack this file.
    package var digests: String { "\(path)/\(ModelDigests.fileName)" }

    package var name: String { lastName(of: path) }

    /// - Parameter path: a folder, with or without a model.
    package init(path: String) { self.path = withoutTrailingSlash(path) }

    /// Whether the folder contains a model of this kind, complete or not.
    package var exists: Bool { access(encoder, F_OK) == 0 || access(decoder, F_OK) == 0 }

    /// Checks that the networks and the tokenizer exist and are readable, without loading them.
    ///
    /// - Throws: `DeviceError` with `missing` or `denied` for the file.
    package func check() throws(DeviceError) {
        for file in [encoder, decoder, tokenizer] {
            try checkModelFile(
                file, "the recognizer's model", missing: "lacks this file",
                remedy:
                    "install the package fieldscribe-moonshine-tiny-en, or set recognizer.model to a complete model"
            )
        }
    }

    /// Checks that a runtime exists, without loading it.
    ///
    /// - Throws: `DeviceError` with `missing`.
    package func checkRuntime() throws(DeviceError) {
        try OnnxRuntime.check(OnnxRuntime.candidates(beside: path), beside: path)
    }

    /// Runs `check` and compares the digest of every file listed in `digests`.
    ///
    /// - Throws: the error from `check`; `DeviceError` with `damaged` for the first file that differs.
    func verify() throws(DeviceError) {
        try check()
        try ModelDigests.verify(inFolder: path)
    }

    /// The paths of the model's files, sorted.
    package var files: [String] {
        ((try? names(inFolder: path)) ?? []).map { "\(path)/\($0)" }.filter { FileStatus(target: $0)?.kind == .file }
    }

    package var bytes: Int64 { files.reduce(0) { $0 + (FileStatus(target: $1)?.bytes ?? 0) } }

    /// The language from the file LANGUAGE or the end of the folder's name, such as `en`; empty if neither names one.
    package var language: String {
        if let language = LanguageTag(ofFolder: path) { return language.text }
        let last = name.split(separator: "-").last.map(String.init) ?? ""
        return last.utf8.count == 2 && last.allSatisfy { $0.isASCII && $0.isLowercase } ? last : ""
    }

    /// The maximum speaking rate in tokens per second. Networks for other languages use English tokens and split words
    /// into bytes, so their limit is twice as high.
    var maxTokensPerSecond: Double { isEnglish ? 6.5 : 13 }

    /// Whether the model's language is English or unknown.
    package var isEnglish: Bool { ["", "en"].contains(language.prefix { $0 != "-" }) }

    /// How much larger the networks are than the 44 MB of tiny, in megabytes.
    private var extraMegabytes: Int {
        let bytes = [encoder, decoder].compactMap { FileStatus(target: $0)?.bytes }.reduce(0, +)
        return max(0, Int(bytes / 1_000_000) - 44)
    }

    /// The memory of a worker with this model, in megabytes: 220 for tiny, plus twice the additional size of the
    /// networks, because the weights are kept twice.
    package var workerMegabytes: Int { 220 + 2 * extraMegabytes }

    /// The memory that a board needs for this model, in megabytes.
    package var minimumMegabytes: Int { 380 + 2 * extraMegabytes }

    /// The SPDX identifier of the license in the file LICENSE; nil if unknown.
    package var licence: String? {
        guard let text = try? content(ofFile: "\(path)/LICENSE", limit: 1 << 16) else { return nil }
        return String(decoding: text, as: UTF8.self).contains("MIT License") ? "MIT" : nil
    }
}
