import Core
import System

/// The folder of a recording: `DIRECTORY/recordings/000007/`.
package struct RecordingFolder: Hashable, Sendable {
    package var path: String

    /// - Parameter storage: the storage directory.
    package init(storage: String, recording: Int) {
        path = "\(storage)/recordings/\(Self.name(of: recording))"
    }

    /// Opens the folder of a recording; nothing below the storage directory may be a link.
    ///
    /// - Throws: `DeviceError` with `missing` if there is none.
    package static func open(_ recording: Int, in storage: String) throws(DeviceError) -> Folder {
        try Folder(opening: storage, crosses: true).folder("recordings").folder(name(of: recording))
    }

    /// Returns a folder's name: the number with at least six digits.
    package static func name(of recording: Int) -> String {
        recording.padded(to: 6)
    }

    /// Returns the number for a folder name; nil if it is not a recording's.
    package static func recording(named name: String) -> Int? {
        guard let id = Int(name), id > 0, Self.name(of: id) == name else { return nil }
        return id
    }

    package static let audioName = "audio.wav"
    package static let sealedName = "sealed.age"

    /// A new encrypted file, while it replaces the old one.
    package static let resealedName = "resealed.age"

    /// Exists during a redaction.
    package static let redactionName = ".striking"

    /// The name of an added file that was converted: `original.m4a`.
    ///
    /// - Parameter name: its former name; an extension is kept if it is short and plain.
    static func originalName(for name: String) -> String {
        let ending = name.lastIndex(of: ".").map { name[name.index(after: $0)...].lowercased() } ?? ""
        return isOriginal("\(original).\(ending)") ? "\(original).\(ending)" : original
    }

    /// Whether a file's name is one that `originalName` returns.
    package static func isOriginal(_ name: String) -> Bool {
        if name == original { return true }
        guard name.hasPrefix("\(original).") else { return false }
        let ending = name.utf8.dropFirst(original.utf8.count + 1)
        return 1...8 ~= ending.count && ending.allSatisfy { $0.isASCIIDigit || (0x61...0x7A).contains($0) }
    }

    private static let original = "original"

    package var sealed: String { "\(path)/\(Self.sealedName)" }

    package var audio: String { "\(path)/\(Self.audioName)" }
}
