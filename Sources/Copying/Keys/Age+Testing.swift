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
        let gathered = Gathered()
        let sealer = try sealer(for: [recipient]) { gathered.bytes += $0 }
        try sealer.write(Self.test)
        try sealer.finish()
        return gathered.bytes
    }

    /// Whether a private key opens what is encrypted for a public key.
    package func opensTest(for recipient: Recipient, with key: OpeningKey) throws(DeviceError) -> Bool {
        let sealed = try encryptTest(for: recipient)
        let gathered = Gathered()
        let opener = try opener(with: key) { gathered.bytes += $0 }
        do throws(DeviceError) {
            try opener.write(sealed)
            try opener.finish()
        } catch {
            guard error.cause == .age else { throw error }
            return false
        }
        return gathered.bytes == Self.test
    }

    /// Decrypts a file completely without storing it; returns the number of bytes.
    ///
    /// - Throws: `DeviceError` with `damaged` if age refuses it.
    package func openedBytes(of path: String, with key: OpeningKey) throws(DeviceError) -> Int64 {
        let (folder, name) = try Folder.holding(path, crosses: true)
        let file = try folder.openFile(name, O_RDONLY)
        let gathered = Gathered()
        let opener = try opener(with: key) { gathered.count += Int64($0.count) }
        var place: Int64 = 0
        do throws(DeviceError) {
            while true {
                let bytes = try file.bytes(at: place, count: 1 << 18)
                if bytes.isEmpty { break }
                try opener.write(bytes)
                place += Int64(bytes.count)
            }
            try opener.finish()
        } catch {
            guard error.cause == .age else { throw error }
            throw DeviceError(
                .damaged, "age", on: path,
                gathered.count == 0
                    ? "age refuses it: it is sealed for another key, was changed, or is not a sealed copy"
                    : "age refuses it after \(gathered.count) bytes: it was changed, or is incomplete",
                remedy: "copy the recording again")
        }
        return gathered.count
    }

    private final class Gathered {
        var bytes: [UInt8] = []
        var count: Int64 = 0
    }
}
