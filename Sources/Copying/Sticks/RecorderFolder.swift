import Core
import Glibc
import System

/// Distinguishes this machine from others with the same name: a hash of `/etc/machine-id`, which does not reveal that
/// ID. Nil if the machine has no such ID.
package var machineIdentity: String? {
    guard let bytes = try? content(ofFile: "/etc/machine-id", limit: 64) else { return nil }
    let identifier = String(decoding: bytes, as: UTF8.self).filter { !$0.isWhitespace }
    guard RecorderFolder.isIdentity(identifier) else { return nil }
    return String(Digest.of("fieldscribe recorder \(identifier)").prefix(32))
}

/// Identifies a recorder's folder on a volume by a file in it, because two recorders may have the same name.
package enum RecorderFolder {
    package static let fileName = "RECORDER.txt"

    private enum Owner: Equatable {
        case missing
        /// The folder has no file that identifies its recorder.
        case unknown
        case recorder(String)
        /// The file cannot be read, or Fieldscribe did not write it.
        case foreign
    }

    static func isIdentity(_ text: String) -> Bool {
        text.utf8.count == 32 && text.allSatisfy { $0.isASCII && $0.isHexDigit }
    }

    /// Returns the name of this recorder's folder. If a folder identifies this recorder, returns its name. Otherwise
    /// returns the recorder's name, with a number appended if another recorder uses the name.
    static func name(of device: DeviceName, _ identity: String?, in top: Folder) throws(DeviceError) -> DeviceName {
        guard let identity else { return device }
        let existing = try top.names().compactMap { DeviceName($0) }.sorted { $0.text < $1.text }
        for name in [device] + existing where owner(of: name, in: top) == .recorder(identity) { return name }
        for ordinal in 1...99 {
            guard let name = ordinal == 1 ? device : DeviceName("\(device.text)-\(ordinal)") else { break }
            if [.missing, .unknown].contains(owner(of: name, in: top)) { return name }
        }
        throw DeviceError(
            .failed, "mkdir",
            "\(top.path): no folder name from \(device.text) to \(device.text)-99 is free; rename this recorder"
        )
    }

    /// Writes the recorder's identity into its folder. Ignores failures, because copies do not need it.
    static func mark(_ folder: Folder, as identity: String?) {
        guard let identity, (try? folder.exists(fileName)) == false else { return }
        guard let file = try? NewFile(fileName, in: folder, shouldStop: { false }) else { return }
        let text =
            "\(identity)\nThis ID distinguishes recorders with the same name. The copies in this folder come from the recorder with this ID.\n"
        do throws(DeviceError) {
            try file.write(text)
            try file.sync()
            try folder.sync()
        } catch { try? folder.remove(fileName) }
    }

    /// Returns whether a folder belongs to this recorder: it identifies the recorder, or it identifies none and has the
    /// recorder's name.
    static func belongs(_ name: String, to device: DeviceName, _ identity: String?, in top: Folder) -> Bool {
        guard let folder = DeviceName(name) else { return false }
        switch owner(of: folder, in: top) {
        case .recorder(let recorder): return recorder == identity
        case .unknown: return folder == device
        case .missing, .foreign: return false
        }
    }

    private static func owner(of name: DeviceName, in top: Folder) -> Owner {
        do throws(DeviceError) {
            guard try top.exists(name.text) else { return .missing }
            let folder = try top.folder(name.text)
            guard try folder.exists(fileName) else { return .unknown }
            let bytes = try folder.openFile(fileName, O_RDONLY).bytes(count: 64)
            let line = String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != 13 }, as: UTF8.self)
            return isIdentity(line) ? .recorder(line.lowercased()) : .foreign
        } catch { return .foreign }
    }
}
