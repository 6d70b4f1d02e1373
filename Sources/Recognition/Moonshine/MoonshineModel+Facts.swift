import Glibc
import System

extension MoonshineModel {
    /// The paths of the model's files, sorted.
    package var files: [String] {
        ((try? names(inFolder: path)) ?? []).sorted().map { "\(path)/\($0)" }
            .filter { FileStatus(target: $0)?.kind == .file }
    }

    /// The total size of the files in bytes.
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
    var isEnglish: Bool { ["", "en"].contains(language.prefix { $0 != "-" }) }

    /// The size of the networks in megabytes, beyond tiny's 44.
    private var extraMegabytes: Int {
        let bytes = [encoder, decoder].compactMap { FileStatus(target: $0)?.bytes }.reduce(0, +)
        return max(0, Int(bytes / 1_000_000) - 44)
    }

    /// The memory of a worker with this model, in megabytes: 220 for tiny, plus twice the additional size of the
    /// networks, because the weights are kept twice.
    package var workerMegabytes: Int { 220 + 2 * extraMegabytes }

    /// The memory that a board needs for this model, in megabytes.
    package var leastMegabytes: Int { 380 + 2 * extraMegabytes }

    /// The SPDX name of the license in the file LICENSE; nil if unknown.
    package var licence: String? {
        guard let text = try? content(ofFile: "\(path)/LICENSE", limit: 1 << 16) else { return nil }
        return String(decoding: text, as: UTF8.self).contains("MIT License") ? "MIT" : nil
    }
}
