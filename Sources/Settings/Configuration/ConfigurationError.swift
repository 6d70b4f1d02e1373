/// The problems of a configuration file, in the order of lines.
package struct ConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// One problem.
    package struct Problem: Hashable, Sendable, CustomStringConvertible {
        var file: String
        /// Counted from 1.
        var line: Int
        /// The line's section, without brackets; empty before the first.
        var section: String

        /// Empty if the problem is the whole line.
        var key: String
        /// The value in the file; empty if the problem is the key or the whole line.
        var value: String

        /// What is wrong, and what is allowed.
        var reason: String

        /// The setting as `capture.device`; nil if the problem is the whole line.
        package var setting: String? { key.isEmpty || section.isEmpty ? nil : "\(section).\(key)" }

        package var description: String {
            let subject = key.isEmpty ? "" : section.isEmpty ? "\(key): " : "\(section).\(key): "
            return "\(file):\(line): \(subject)\(reason)"
        }
    }

    /// One or more.
    package var problems: [Problem]

    /// One line: the first problem, and the number of others.
    package var description: String {
        let first = problems.first?.description ?? "the configuration is refused"
        let more = problems.count - 1
        return more > 0 ? "\(first) (and \(more) more; see fieldscribe doctor)" : first
    }
}
