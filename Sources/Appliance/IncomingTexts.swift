import Control
import Core
import Synchronization

/// A file that comes in parts over the control socket: one at a time, so that nobody can fill the memory.
final class IncomingTexts: Sendable {
    /// Bytes of one file.
    private static let most = 64 << 20

    private let held = Mutex<(token: String, text: String)>(("", ""))

    /// Adds a part; returns the whole text with the last one, nil before.
    ///
    /// - Parameter isFirst: whether the part begins a file of its own.
    /// - Throws: `DeviceError` with `busy` where another file has come between, `unsupported` where this one is too long.
    func take(_ part: ImportPart) throws(DeviceError) -> String? {
        let result: Result<String?, DeviceError> = held.withLock { held in
            if held.token != part.token { held = (part.token, "") }
            guard held.text.utf8.count + part.text.utf8.count <= Self.most else {
                held = ("", "")
                return .failure(
                    DeviceError(.unsupported, "import", on: part.name, "is too long", remedy: "nothing was changed"))
            }
            held.text += part.text
            guard part.isLast else { return .success(nil) }
            defer { held = ("", "") }
            return .success(held.text)
        }
        return try result.get()
    }
}
