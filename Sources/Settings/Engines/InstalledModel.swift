/// An installed model of any engine.
package struct InstalledModel: Hashable, Sendable {
    /// Its short name, which is its folder's.
    package var name: String
    /// Its folder.
    package var path: String

    /// `en-US`; empty if unknown.
    package var language: String

    /// The sample rate that it was trained with.
    package var sampleRate: Int

    /// The paths of its files.
    package var files: [String]

    /// The total size of its files in bytes.
    package var bytes: Int64

    /// The SPDX name, if known.
    package var licence: String?

    /// What is wrong, one line each: the file, the fault, and the remedy. If empty, the model can be loaded.
    package var problems: [String]

    /// Whether a file is missing.
    package var lacksFile: Bool
}
