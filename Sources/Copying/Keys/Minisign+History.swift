import Core

extension Minisign {
    /// Returns whether a key made an entry's signature of the sound.
    ///
    /// - Throws: `DeviceError` if minisign does not answer.
    package func fits(_ entry: HistoryEntry, key: String) throws(DeviceError) -> Bool {
        guard let statement = entry.statement, let file = entry.signatureFile else { return false }
        let (bytes, signature) = (Array(statement.utf8), Array(file.utf8))
        if fits(bytes, signature: signature, key: key) { return true }
        return try comment(of: bytes, signature: signature, key: key) == HistoryEntry.signedComment
    }

    /// Returns whether an entry's signature names this key by its number, valid or not.
    package static func names(_ key: String, in entry: HistoryEntry) -> Bool {
        // Base64 of two letters and the 8 bytes of the number; its last bits share a digit with the next byte.
        entry.signature?.dropFirst(2).prefix(11) == key.dropFirst(2).prefix(11)
    }
}
