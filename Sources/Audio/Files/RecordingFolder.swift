import Core

/// Where a recording lies: `DIRECTORY/recordings/000007/`.
package struct RecordingFolder: Hashable, Sendable {
    /// The folder's path.
    package var path: String

    /// - Parameter storage: the storage directory.
    package init(storage: String, recording: Int) {
        path = "\(storage)/recordings/\(Self.name(of: recording))"
    }

    /// The folder's name: six digits, more where it takes more.
    package static func name(of recording: Int) -> String {
        recording.padded(to: 6)
    }

    /// The recording whose folder has this name; nil where none has.
    package static func recording(named name: String) -> Int? {
        guard let id = Int(name), id > 0, Self.name(of: id) == name else { return nil }
        return id
    }

    /// The name of the audio in every recording's folder.
    package static let audioName = "audio.wav"

    /// The name of the sealed file, where there is one.
    package static let sealedName = "sealed.age"

    /// The name of what is to take the sealed file's place, in the moments in which it does.
    package static let resealedName = "resealed.age"

    /// The name of a file that is there as long as something is being struck.
    package static let strikingName = ".striking"

    /// The path of its sealed file.
    package var sealed: String { "\(path)/\(Self.sealedName)" }

    /// The path of its audio.
    package var audio: String { "\(path)/\(Self.audioName)" }
}
