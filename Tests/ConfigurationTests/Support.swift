import FoundationEssentials
import TestKit

@testable import Settings

/// Parses text as a configuration file and returns the result.
func parse(_ text: String) throws -> Result<Configuration, ConfigurationError> {
    try parse(Array(text.utf8))
}

func parse(_ bytes: [UInt8]) throws -> Result<Configuration, ConfigurationError> {
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
