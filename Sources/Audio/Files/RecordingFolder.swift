import Core

/// The folder of a recording: `DIRECTORY/recordings/000007/`.
package struct RecordingFolder: Hashable, Sendable {
    /// The folder's path.
    package var path: String

    /// - Parameter storage: the storage directory.
    package init(storage: String, recording: Int) {
        path = "\(storage)/recordings/\(Self.name(of: recording))"
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

    /// The name of a recording's audio file.
    package static let audioName = "audio.wav"

    /// The name of the encrypted file.
    package static let sealedName = "sealed.age"

    /// The temporary name of a new encrypted file while it replaces the old one.
    package static let resealedName = "resealed.age"

    /// The name of a file that exists during a redaction.
    package static let redactionName = ".striking"

    /// The path of the encrypted file.
    package var sealed: String { "\(path)/\(Self.sealedName)" }

    /// The path of the audio file.
    package var audio: String { "\(path)/\(Self.audioName)" }
}
