internal import CBuild

/// The program's version.
package enum ProgramVersion {
    /// The version of the packages. deploy/deb reads this line.
    package static let number = "1.0.0"

    /// Returns the output of `--version`, including the commit if it was known at build time.
    ///
    /// - Parameter program: The executable's name.
    package static func text(of program: String) -> String {
        let commit = String(cString: fieldscribe_commit())
        return "\(program) \(number) (commit \(commit.isEmpty ? "unknown" : commit))"
    }
}
