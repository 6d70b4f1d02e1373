import Core
import System

/// A recording's folder: `DIRECTORY/recordings/000007/`.
package struct RecordingFolder: Hashable, Sendable {
    package var path: String

    /// - Parameter storage: The storage directory.
    package init(storage: String, recording: Int) {
        path = "\(storage)/recordings/\(Self.name(of: recording))"
    }

    /// Opens a recording's folder. Nothing below the storage directory may be a link.
    ///
    /// - Throws: `DeviceError` with `missing` if the folder does not exist.
    package static func open(_ recording: Int, in storage: String) throws(DeviceError) -> Folder {
        try Folder(opening: storage, crossesMounts: true).folder("recordings").folder(name(of: recording))
    }

    /// Returns the name of a recording's folder: the number with at least six digits.
    package static func name(of recording: Int) -> String {
        recording.padded(to: 6)
    }

    /// Returns the number of the recording in a folder; nil if the name is not that of a recording's folder.
    package static func recording(named name: String) -> Int? {
        guard let id = Int(name), id > 0, Self.name(of: id) == name else { return nil }
        return id
    }

    package static let audioName = "audio.wav"
    package static let sealedName = "sealed.age"

    /// The name of a new encrypted file while it replaces the old one.
    package static let resealedName = "resealed.age"

    /// The name of the file that exists during a redaction.
    package static let redactionName = ".striking"

    /// Returns the name under which an added file is stored, such as `original.m4a`.
    ///
    /// - Parameter name: The file's own name. Its extension is kept if it is short and has only letters and digits.
    static func originalName(for name: String) -> String {
        let suffix = name.lastIndex(of: ".").map { name[name.index(after: $0)...].lowercased() } ?? ""
        return isOriginal("\(original).\(suffix)") ? "\(original).\(suffix)" : original
    }

    /// Returns whether a file has a name that `originalName` returns.
    package static func isOriginal(_ name: String) -> Bool {
        if name == original { return true }
        guard name.hasPrefix("\(original).") else { return false }
        let suffix = name.utf8.dropFirst(original.utf8.count + 1)
        return 1...8 ~= suffix.count && suffix.allSatisfy { $0.isASCIIDigit || (0x61...0x7A).contains($0) }
    }

    private static let original = "original"

    package var sealed: String { "\(path)/\(Self.sealedName)" }

    package var audio: String { "\(path)/\(Self.audioName)" }
}
