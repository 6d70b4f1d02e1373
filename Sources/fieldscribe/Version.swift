internal import CBuild

/// Which Fieldscribe this is.
enum Version {
    /// As the package is called; deploy/deb reads this line.
    static let number = "0.1.0"

    /// What `--version` prints: with the commit that it was built from, where the build was told.
    static var text: String {
        let commit = String(cString: fieldscribe_commit())
        return "fieldscribe \(number) (\(commit.isEmpty ? "commit unknown" : "commit \(commit)"))"
    }
}
