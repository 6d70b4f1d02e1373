import Core

/// Where a recording lies: `DIRECTORY/recordings/000007/`.
package struct RecordingFolder: Hashable, Sendable {
    package var path: String

    package init(storage: String, recording: Int) {
        path = "\(storage)/recordings/\(Self.name(of: recording))"
    }

    /// The folder's name: six digits, more where it takes more.
    package static func name(of recording: Int) -> String {
        let digits = String(recording)
        return String(repeating: "0", count: max(0, 6 - digits.count)) + digits
    }

    package static let audioName = "audio.wav"

    package var audio: String { "\(path)/\(Self.audioName)" }
}
