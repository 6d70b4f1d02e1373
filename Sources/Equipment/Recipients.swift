import Configuration
import Core
import Sealing

extension Configuration {
    /// The most that copies may be sealed for.
    private static let mostRecipients = 64

    /// For whom copies are sealed, by `export.recipients`; nil where they are not sealed.
    ///
    /// - Throws: `DeviceError` where that is not certain: then nothing may be copied.
    package func recipients() throws(DeviceError) -> [Recipient]? {
        if export.recipients.isEmpty { return nil }
        if export.recipients == [Export.nobody] {
            throw DeviceError(
                .denied, "export", on: "export.recipients", "is \(Export.nobody), so nothing is copied",
                remedy: "set it to the public keys of those who may read the copies")
        }
        var found: [Recipient] = []
        for (index, entry) in export.recipients.enumerated() {
            let more: [Recipient]
            if entry.hasPrefix("/") {
                more = try RecipientsFile.recipients(in: entry)
            } else if let recipient = Recipient(entry) {
                more = [recipient]
            } else {
                throw DeviceError(
                    .unsupported, "export", on: "export.recipients", "entry \(index + 1) is no public key",
                    remedy: "correct it")
            }
            for recipient in more where !found.contains(recipient) { found.append(recipient) }
        }
        guard found.count <= Self.mostRecipients else {
            throw DeviceError(
                .unsupported, "export", on: "export.recipients",
                "\(found.count) public keys are more than \(Self.mostRecipients)", remedy: "leave some out")
        }
        return found
    }
}
