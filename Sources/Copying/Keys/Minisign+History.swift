import Core

extension Minisign {
    /// Whether the signature of a recording's sound in its history is this key's.
    ///
    /// - Throws: `DeviceError` if minisign does not answer.
    package func fits(_ entry: HistoryEntry, key: String) throws(DeviceError) -> Bool {
        guard let statement = entry.statement, let file = entry.signatureFile else { return false }
        let (bytes, signature) = (Array(statement.utf8), Array(file.utf8))
        if fits(bytes, signature: signature, key: key) { return true }
        return try comment(of: bytes, signature: signature, key: key) == HistoryEntry.signedComment
    }

    /// Whether an entry's signature names this key, by the number that both have, whether it fits or not.
    package static func names(_ key: String, in entry: HistoryEntry) -> Bool {
        // Base64 of two letters and 8 bytes of the number, without the last bits, which belong to what follows, too.
        entry.signature?.dropFirst(2).prefix(11) == key.dropFirst(2).prefix(11)
    }
}
