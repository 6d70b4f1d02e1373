internal import CBuild

/// Which Fieldscribe this is.
package enum ProgramVersion {
    /// As the packages are called; deploy/deb reads this line.
    package static let number = "0.1.0"

    /// What `--version` prints: with the commit that it was built from, where the build was told.
    ///
    /// - Parameter program: the executable's name.
    package static func text(of program: String) -> String {
        let commit = String(cString: fieldscribe_commit())
        return "\(program) \(number) (\(commit.isEmpty ? "commit unknown" : "commit \(commit)"))"
    }
}
