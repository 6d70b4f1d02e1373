import Core
import Glibc
import System

/// Tells this machine from another of the same name, and nothing else of it: made of the machine's identifier, which cannot be had
/// back from it. Nil where the machine has none.
package var machineIdentity: String? {
    guard let bytes = try? content(ofFile: "/etc/machine-id", limit: 64) else { return nil }
    let identifier = String(decoding: bytes, as: UTF8.self).filter { !$0.isWhitespace }
    guard RecorderFolder.isIdentity(identifier) else { return nil }
    return String(Digest.of("fieldscribe recorder \(identifier)").prefix(32))
}

/// Which of the folders on a volume is a recorder's: each says in a file whose it is, since two may have the same name.
package enum RecorderFolder {
    /// What tells it, in a recorder's folder.
    package static let fileName = "RECORDER.txt"

    /// What a folder says.
    private enum Owner: Equatable {
        /// It is not there.
        case free
        /// Nothing: older versions left it so.
        case untold
        case told(String)
        /// What stands there is none of ours.
        case strange
    }

    /// 32 hexadecimal digits.
    static func isIdentity(_ text: String) -> Bool {
        text.utf8.count == 32 && text.allSatisfy { $0.isASCII && $0.isHexDigit }
    }

    /// The name under which a recorder's copies stand: the one that says so, whatever somebody has called it meanwhile; else its own
    /// name, with a number where that is another's.
    static func name(of device: DeviceName, _ identity: String?, in top: Folder) throws(DeviceError) -> DeviceName {
        guard let identity else { return device }
        let named = try top.names().compactMap { DeviceName($0) }.sorted { $0.text < $1.text }
        for name in [device] + named where owner(of: name, in: top) == .told(identity) { return name }
        for turn in 1...99 {
            guard let name = turn == 1 ? device : DeviceName("\(device.text)-\(turn)") else { break }
            if [.free, .untold].contains(owner(of: name, in: top)) { return name }
        }
        throw DeviceError(
            .failed, "mkdir",
            "\(top.path): every folder from \(device.text) to \(device.text)-99 is another recorder's; give this one another name"
        )
    }

    /// Has a folder say whose it is. One that cannot be written to goes without.
    static func tell(_ identity: String?, in folder: Folder) {
        guard let identity, (try? folder.exists(fileName)) == false else { return }
        guard let file = try? NewFile(fileName, in: folder, shouldStop: { false }) else { return }
        let text =
            "\(identity)\nThis number tells recorders of the same name apart; the copies here come from this one.\n"
        do throws(DeviceError) {
            try file.write(text)
            try file.sync()
            try folder.sync()
        } catch { try? folder.remove(fileName) }
    }

    /// Whether a folder holds copies of this recorder: it says so, or it says nothing and has the recorder's name.
    static func belongs(_ name: String, to device: DeviceName, _ identity: String?, in top: Folder) -> Bool {
        guard let folder = DeviceName(name) else { return false }
        switch owner(of: folder, in: top) {
        case .told(let told): return told == identity
        case .untold: return folder == device
        case .free, .strange: return false
        }
    }

    private static func owner(of name: DeviceName, in top: Folder) -> Owner {
        do throws(DeviceError) {
            guard try top.exists(name.text) else { return .free }
            let folder = try top.folder(name.text)
            guard try folder.exists(fileName) else { return .untold }
            let file = try folder.openFile(fileName, O_RDONLY)
            var failure: DeviceError?
            let bytes = [UInt8](unsafeUninitializedCapacity: 64) { buffer, count in
                do throws(DeviceError) {
                    count = try file.read(into: UnsafeMutableRawBufferPointer(buffer), at: 0)
                } catch { failure = error }
            }
            if failure != nil { return .strange }
            let line = String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != 13 }, as: UTF8.self)
            return isIdentity(line) ? .told(line.lowercased()) : .strange
        } catch { return .strange }
    }
}
