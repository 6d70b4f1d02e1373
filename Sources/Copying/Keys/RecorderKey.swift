import Core
import Glibc
import Synchronization
import System

/// The recorder's own key, by which it signs recordings and copies: `signing.key` in the storage directory, for its owner alone, and
/// `signing.pub`, which anybody may have.
///
/// May be used from any thread.
package final class RecorderKey: Sendable {
    /// The file of the secret key, in the storage directory.
    package static let secretName = "signing.key"
    /// The file of the public one, beside it.
    package static let openName = "signing.pub"

    /// One line of minisign: `RW` and 54 more.
    let publicKey: String
    /// The file of that, as minisign reads it.
    let publicText: String

    private let minisign: Minisign
    private let folder: Folder
    private let failure = Mutex<DeviceError?>(nil)

    /// Opens the key, or makes it where there is none.
    ///
    /// - Parameter storage: the storage directory.
    /// - Throws: `DeviceError` with `missing` where minisign is not installed, `denied` where the key is another's.
    package convenience init(in storage: String) throws(DeviceError) {
        try self.init(in: storage, by: Minisign())
    }

    init(in storage: String, by minisign: Minisign) throws(DeviceError) {
        self.minisign = minisign
        folder = try Folder(opening: storage, crosses: true)
        if try !folder.exists(Self.secretName) { try Self.make(in: folder, minisign) }
        let secret = try folder.openFile(Self.secretName, O_RDONLY)
        var text = try? Self.text(in: folder)
        if text.flatMap({ Self.key(in: $0) }) == nil {
            let bytes = try minisign.openKey(of: secret)
            // Where it cannot be kept, it is made again.
            try? folder.replace(Self.openName, with: bytes, mode: 0o644)
            text = String(decoding: bytes, as: UTF8.self)
        }
        guard let text, let key = Self.key(in: text) else {
            throw DeviceError(
                .damaged, "read", on: "\(storage)/\(Self.secretName)", "is no key of minisign",
                remedy: "move it away; another is then made")
        }
        publicKey = key
        publicText = text
    }

    /// The public key that is kept in a storage directory; nil where there is none yet.
    package static func publicKey(in storage: String) -> String? {
        guard let folder = try? Folder(opening: storage, crosses: true) else { return nil }
        return (try? text(in: folder)).flatMap { key(in: $0) }
    }

    /// The public key in the text of such a file, or in a line by itself.
    package static func key(in text: String) -> String? {
        text.split(whereSeparator: \.isNewline).map(String.init).first { SigningKey.isPublic($0) }
    }

    private static func text(in folder: Folder) throws(DeviceError) -> String {
        String(
            decoding: try folder.openFile(openName, O_RDONLY).content(limit: Minisign.longest), as: UTF8.self)
    }

    /// Another process may make one at the same time: the first that has the name counts.
    private static func make(in folder: Folder, _ minisign: Minisign) throws(DeviceError) {
        let (secret, open) = try minisign.newKeys()
        let temporary = "\(secretName).\(getpid()).new"
        try folder.remove(temporary)
        do throws(DeviceError) {
            let file = try folder.open(temporary, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
            try rethrowing { try secret.withUnsafeBytes { try file.write($0) } }
            try file.sync()
            try folder.rename(temporary, toFree: secretName)
        } catch {
            try? folder.remove(temporary)
            if error.status == EEXIST { return }
            throw error
        }
        try folder.sync()
        try folder.replace(openName, with: open, mode: 0o644)
    }

    /// Signs some bytes.
    ///
    /// - Parameter comment: one line that is signed with them.
    /// - Returns: the content of a `.minisig`; nil where that failed, or did before: it is then in `error`, and everything else goes
    ///   on, without waiting again for what does not answer.
    package func sign(_ bytes: [UInt8], comment: String) -> String? {
        guard error == nil else { return nil }
        do throws(DeviceError) {
            let secret = try folder.openFile(Self.secretName, O_RDONLY)
            return try minisign.sign(bytes, comment: comment, with: secret)
        } catch {
            failure.withLock { $0 = $0 ?? error }
            return nil
        }
    }

    /// Why something could not be signed; nil where everything was.
    package var error: DeviceError? { failure.withLock { $0 } }
}

extension Result<RecorderKey, DeviceError> {
    /// Why something could not be signed, for want of a key or later; nil where everything was.
    package var whyUnsigned: DeviceError? {
        switch self {
        case .success(let key): key.error
        case .failure(let error): error
        }
    }
}
