import Core
import Glibc
import Synchronization
import System

/// The recorder's key, which signs recordings and copies. The secret key is `signing.key` in the storage directory,
/// readable only by its owner; the public key is `signing.pub` beside it. May be used from any thread.
package final class RecorderKey: Sendable {
    package static let secretName = "signing.key"
    package static let publicName = "signing.pub"

    /// The public key in minisign's format: `RW` and 54 more base64 digits.
    let publicKey: String
    let publicText: String

    private let minisign: Minisign
    private let folder: Folder
    private let failure = Mutex<DeviceError?>(nil)

    /// Opens the key in a storage directory. Makes a key if there is none.
    ///
    /// - Throws: `DeviceError` with `missing` if minisign is not installed, `denied` if another user owns the key.
    package convenience init(in storage: String) throws(DeviceError) {
        try self.init(in: storage, by: Minisign())
    }

    init(in storage: String, by minisign: Minisign) throws(DeviceError) {
        self.minisign = minisign
        folder = try Folder(opening: storage, crossesMounts: true)
        if try !folder.exists(Self.secretName) { try Self.make(in: folder, minisign) }
        let secret = try folder.openFile(Self.secretName, O_RDONLY)
        var text = try? Self.text(in: folder)
        if text.flatMap({ Self.key(in: $0) }) == nil {
            let bytes = try minisign.publicKeyFile(of: secret)
            // If this fails, the next start derives the public key again.
            try? folder.replace(Self.publicName, with: bytes, mode: 0o644)
            text = String(decoding: bytes, as: UTF8.self)
        }
        guard let text, let key = Self.key(in: text) else {
            throw DeviceError(
                .damaged, "read", on: "\(storage)/\(Self.secretName)", "is not a minisign key",
                remedy: "move it elsewhere; a new one will be made")
        }
        publicKey = key
        publicText = text
    }

    /// Returns the public key in a storage directory; nil if there is none yet.
    package static func publicKey(in storage: String) -> String? {
        guard let folder = try? Folder(opening: storage, crossesMounts: true) else { return nil }
        return (try? text(in: folder)).flatMap { key(in: $0) }
    }

    /// Returns the public key in the text of a key file, or in a single line.
    package static func key(in text: String) -> String? {
        text.split(whereSeparator: \.isNewline).map(String.init).first { SigningKey.isPublic($0) }
    }

    private static func text(in folder: Folder) throws(DeviceError) -> String {
        String(
            decoding: try folder.content(ofFile: publicName, limit: Minisign.maximumFileBytes), as: UTF8.self)
    }

    /// Makes a key. If another process makes one at the same time, the first key with the final name is used.
    private static func make(in folder: Folder, _ minisign: Minisign) throws(DeviceError) {
        let (secretKey, publicKey) = try minisign.newKeys()
        let temporary = "\(secretName).\(getpid()).new"
        try folder.remove(temporary)
        do throws(DeviceError) {
            let file = try folder.open(temporary, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
            try rethrowing { try secretKey.withUnsafeBytes { try file.write($0) } }
            try file.sync()
            try folder.rename(temporary, toUnused: secretName)
        } catch {
            try? folder.remove(temporary)
            if error.status == EEXIST { return }
            throw error
        }
        try folder.sync()
        try folder.replace(publicName, with: publicKey, mode: 0o644)
    }

    /// Signs data.
    ///
    /// - Parameter comment: a line that is signed with the data.
    /// - Returns: the content of a `.minisig` file; nil after a failure, which `error` returns. After a failure,
    ///   minisign is not run again.
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

    /// Why something could not be signed; nil if everything was signed.
    package var error: DeviceError? { failure.withLock { $0 } }
}

extension Result<RecorderKey, DeviceError> {
    /// Why something could not be signed: there is no key, or signing failed. Nil if everything was signed.
    package var signingError: DeviceError? {
        switch self {
        case .success(let key): key.error
        case .failure(let error): error
        }
    }
}
