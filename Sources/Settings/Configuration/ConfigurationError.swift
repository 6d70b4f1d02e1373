/// What is wrong with a configuration file: all of it, in the order of lines.
package struct ConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// One thing that is wrong.
    package struct Problem: Hashable, Sendable, CustomStringConvertible {
        /// The configuration file's path.
        var file: String

        /// Counted from 1.
        var line: Int
        /// The section that the line stands in, without its brackets; empty before the first.
        var section: String

        /// Empty where the whole line is meant.
        var key: String
        /// The value as the file has it; empty where the key or the whole line is meant.
        var value: String

        /// What is wrong with it, and what is allowed.
        var reason: String

        package var description: String {
            let subject = key.isEmpty ? "" : section.isEmpty ? "\(key): " : "\(section).\(key): "
            return "\(file):\(line): \(subject)\(reason)"
        }
    }

    /// One or more.
    package var problems: [Problem]

    /// The status of a command that ends with this error: wrong usage.
    var exitStatus: Int32 { 2 }

    /// One line: the first problem, and how many more there are.
    package var description: String {
        let first = problems.first?.description ?? "the configuration is refused"
        let more = problems.count - 1
        return more > 0 ? "\(first) (and \(more) more; see fieldscribe doctor)" : first
    }
}
