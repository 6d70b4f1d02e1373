/// The problems in a configuration file, in line order.
package struct ConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A problem in one line.
    package struct Problem: Hashable, Sendable, CustomStringConvertible {
        var file: String
        /// The line number, from 1.
        var line: Int
        /// The line's section, without brackets; empty before the first section and after an invalid header.
        var section: String

        /// The key; empty if the problem is the whole line.
        var key: String
        /// The key's value in the file. If the problem is the whole line, the line's text, or empty.
        var value: String

        /// The problem, with what is allowed instead.
        var reason: String

        /// The setting in the form `capture.device`; nil if `key` or `section` is empty.
        package var setting: String? { key.isEmpty || section.isEmpty ? nil : "\(section).\(key)" }

        package var description: String {
            let subject = key.isEmpty ? "" : section.isEmpty ? "\(key): " : "\(section).\(key): "
            return "\(file):\(line): \(subject)\(reason)"
        }
    }

    package var problems: [Problem]

    /// One line with the first problem and the number of others.
    package var description: String {
        let first = problems.first?.description ?? "the configuration is refused"
        let otherCount = problems.count - 1
        return otherCount > 0 ? "\(first) (and \(otherCount) more; see fieldscribe doctor)" : first
    }
}
