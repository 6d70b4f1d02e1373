import FoundationEssentials
import TestKit

@testable import Settings

/// Parses a text as a configuration file and returns the result.
func read(_ text: String) throws -> Result<Configuration, ConfigurationError> {
    try read(Array(text.utf8))
}

func read(_ bytes: [UInt8]) throws -> Result<Configuration, ConfigurationError> {
    let folder = TemporaryFolder()
    let path = folder.file("fieldscribe.conf")
    try Data(bytes).write(to: URL(filePath: path))
    do { return .success(try Configuration.load(explicitPath: path, environment: [:])) } catch let error
        as ConfigurationError
    {
        return .failure(error)
    }
}

extension Result where Failure == ConfigurationError {
    /// The line and reason of each problem, such as `3 "abc" is not ...`.
    var reasons: [String] {
        if case .failure(let error) = self { error.problems.map { "\($0.line) \($0.reason)" } } else { [] }
    }
}
