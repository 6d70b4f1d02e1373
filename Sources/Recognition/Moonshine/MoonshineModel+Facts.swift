import Glibc
import System

extension MoonshineModel {
    /// Its files, in order, by their paths.
    package var files: [String] {
        ((try? names(inFolder: path)) ?? []).sorted().map { "\(path)/\($0)" }.filter { Self.status(of: $0) != nil }
    }

    /// What all its files hold together.
    package var bytes: Int64 { files.reduce(0) { $0 + (Self.status(of: $1).map { Int64($0.st_size) } ?? 0) } }

    /// The language, as the end of the folder's name tells it: `en`; empty where it tells none.
    package var language: String {
        let last = name.split(separator: "-").last.map(String.init) ?? ""
        return last.utf8.count == 2 && last.allSatisfy { $0.isASCII && $0.isLowercase } ? last : ""
    }

    /// Tokens that people say at most in a second. The networks for other languages take English's tokens apart into bytes, and
    /// come with a limit twice as high.
    var mostTokensASecond: Double { ["", "en"].contains(language) ? 6.5 : 13 }

    /// By its SPDX name, as the file LICENSE tells it; nil without one, or where it is another.
    package var licence: String? {
        guard let text = try? content(ofFile: "\(path)/LICENSE", limit: 1 << 16) else { return nil }
        return String(decoding: text, as: UTF8.self).contains("MIT License") ? "MIT" : nil
    }

    /// Of a regular file; nil for what is none.
    private static func status(of path: String) -> stat? {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG ? status : nil
    }
}
