import Core
import Glibc
import System

/// Tests of keys and of encrypted files.
extension Age {
    private static let test = Array("Fieldscribe seals this to check that it can be opened.\n".utf8)

    /// Encrypts a short text for a public key.
    ///
    /// - Throws: `DeviceError` if age refuses the key.
    @discardableResult
    package func encryptTest(for recipient: Recipient) throws(DeviceError) -> [UInt8] {
        var sealed: [UInt8] = []
        let sealer = try sealer(for: [recipient]) { sealed += $0 }
        try sealer.write(Self.test)
        try sealer.finish()
        return sealed
    }

    /// Whether a private key opens what is encrypted for a public key.
    package func opensTest(for recipient: Recipient, with key: OpeningKey) throws(DeviceError) -> Bool {
        let sealed = try encryptTest(for: recipient)
        var opened: [UInt8] = []
        let opener = try opener(with: key) { opened += $0 }
        do throws(DeviceError) {
            try opener.write(sealed)
            try opener.finish()
        } catch {
            guard error.cause == .age else { throw error }
            return false
        }
        return opened == Self.test
    }

    /// Decrypts a file completely without storing it; returns the number of bytes.
    ///
    /// - Throws: `DeviceError` with `damaged` if age refuses it.
    package func openedBytes(of path: String, with key: OpeningKey) throws(DeviceError) -> Int64 {
        let (folder, name) = try Folder.holding(path, crosses: true)
        let file = try folder.openFile(name, O_RDONLY)
        var opened: Int64 = 0
        let opener = try opener(with: key) { opened += Int64($0.count) }
        do throws(DeviceError) {
            try file.forEachBlock { bytes throws(DeviceError) in try opener.write(bytes) }
            try opener.finish()
        } catch {
            guard error.cause == .age else { throw error }
            throw DeviceError(
                .damaged, "age", on: path,
                opened == 0
                    ? "age refuses it: it is sealed for another key, was changed, or is not a sealed copy"
                    : "age refuses it after \(opened) bytes: it was changed, or is incomplete",
                remedy: "copy the recording again")
        }
        return opened
    }
}
