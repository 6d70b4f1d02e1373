import Core

/// Where a recording lies: `DIRECTORY/recordings/000007/`.
package struct RecordingFolder: Hashable, Sendable {
    package var path: String

    package init(storage: String, recording: Int) {
        let digits = String(recording)
        path = "\(storage)/recordings/\(String(repeating: "0", count: max(0, 6 - digits.count)))\(digits)"
    }

    package var audio: String { "\(path)/audio.wav" }
}

extension Configuration {
    /// The archive's file.
    package var archivePath: String { "\(storage.directory)/archive.sqlite" }
}
