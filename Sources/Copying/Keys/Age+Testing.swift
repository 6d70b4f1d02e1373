import Core
import Glibc
import System

/// Functions that test keys and encrypted files.
extension Age {
    private static let test = Array("Fieldscribe seals this to check that it can be opened.\n".utf8)

    /// Encrypts a short text for a public key, and returns the result.
    ///
    /// - Throws: `DeviceError` if age rejects the key.
    @discardableResult
    package func encryptTest(for recipient: Recipient) throws(DeviceError) -> [UInt8] {
        var sealed: [UInt8] = []
        let encryptor = try encryptor(for: [recipient]) { sealed += $0 }
        try encryptor.write(Self.test)
        try encryptor.finish()
        return sealed
    }

    /// Returns whether a private key decrypts a text that was encrypted for a public key.
    package func opensTest(for recipient: Recipient, with key: DecryptionKey) throws(DeviceError) -> Bool {
        let sealed = try encryptTest(for: recipient)
        var opened: [UInt8] = []
        let decryptor = try decryptor(with: key) { opened += $0 }
        do throws(DeviceError) {
            try decryptor.write(sealed)
            try decryptor.finish()
        } catch {
            guard error.cause == .age else { throw error }
            return false
        }
        return opened == Self.test
    }

    /// Decrypts a whole file without storing the result, and returns the number of decrypted bytes.
    ///
    /// - Throws: `DeviceError` with `damaged` if age rejects the file.
    package func openedBytes(of path: String, with key: DecryptionKey) throws(DeviceError) -> Int64 {
        let (folder, name) = try Folder.parent(of: path, crossesMounts: true)
        let file = try folder.openFile(name, O_RDONLY)
        var opened: Int64 = 0
        let decryptor = try decryptor(with: key) { opened += Int64($0.count) }
        do throws(DeviceError) {
            try file.forEachBlock { bytes throws(DeviceError) in try decryptor.write(bytes) }
            try decryptor.finish()
        } catch {
            guard error.cause == .age else { throw error }
            throw DeviceError(
                .damaged, "age", on: path,
                opened == 0
                    ? "age rejects it: it is sealed for another key, was changed, or is not a sealed copy"
                    : "age rejects it after \(opened) bytes: it was changed or is incomplete",
                remedy: "copy the recording again")
        }
        return opened
    }
}
