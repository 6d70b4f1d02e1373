/// A model that is installed, of whatever engine.
package struct InstalledModel: Hashable, Sendable {
    /// Its short name: that of its folder.
    package var name: String
    /// Its folder.
    package var path: String

    /// `en-US`; empty where it is not told.
    package var language: String

    /// Samples a second of the sound that it was made from.
    package var sampleRate: Int

    /// All its files, by their paths.
    package var files: [String]

    /// What all its files hold together.
    package var bytes: Int64

    /// By its SPDX name, where it is told.
    package var licence: String?

    /// What is wrong, a line each: the file, what lacks or does not fit, and the remedy. None: it can be loaded.
    package var problems: [String]

    /// Whether a file is not there at all.
    package var lacksFile: Bool

    init(
        name: String, path: String, language: String, sampleRate: Int, files: [String], bytes: Int64,
        licence: String? = nil, problems: [String], lacksFile: Bool
    ) {
        self.name = name
        self.path = path
        self.language = language
        self.sampleRate = sampleRate
        self.files = files
        self.bytes = bytes
        self.licence = licence
        self.problems = problems
        self.lacksFile = lacksFile
    }
}
