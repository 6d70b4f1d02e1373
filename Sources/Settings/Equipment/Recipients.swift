import Copying
import Core

extension Configuration {
    private static let maxRecipients = 64

    /// Returns the recipients of copies from `export.recipients`; nil if copies are not encrypted.
    ///
    /// - Throws: `DeviceError` if the recipients cannot be determined. No copies may then be made.
    package func recipients() throws(DeviceError) -> [Recipient]? {
        if export.recipients.isEmpty { return nil }
        if export.recipients == [Export.nobody] {
            throw DeviceError(
                .denied, "export", on: "export.recipients", "is \(Export.nobody), so nothing is copied",
                remedy: "set it to the public keys of the people who may read the copies")
        }
        return try Self.recipients(export.recipients, of: "export.recipients")
    }

    /// Returns the recipients of recordings from `storage.seal`; nil if recordings are not encrypted.
    ///
    /// - Throws: `DeviceError` if the recipients cannot be determined. No recording may then be sealed.
    package func sealRecipients() throws(DeviceError) -> [Recipient]? {
        try storage.seal.isEmpty ? nil : Self.recipients(storage.seal, of: "storage.seal")
    }

    private static func recipients(_ entries: [String], of key: String) throws(DeviceError) -> [Recipient] {
        var recipients: [Recipient] = []
        for (index, entry) in entries.enumerated() {
            let newRecipients: [Recipient]
            if entry.hasPrefix("/") {
                newRecipients = try RecipientsFile.recipients(in: entry)
            } else if let recipient = Recipient(entry) {
                newRecipients = [recipient]
            } else {
                throw DeviceError(
                    .unsupported, "export", on: key, "entry \(index + 1) is not a public key",
                    remedy: "correct it")
            }
            for recipient in newRecipients where !recipients.contains(recipient) { recipients.append(recipient) }
        }
        guard recipients.count <= maxRecipients else {
            throw DeviceError(
                .unsupported, "export", on: key,
                "\(recipients.count) public keys are too many", remedy: "use at most \(maxRecipients)")
        }
        return recipients
    }
}
