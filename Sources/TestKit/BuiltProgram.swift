import FoundationEssentials
import Glibc
import System

package struct NotBuilt: Error {
    package var program: String
}

/// Returns the path of a program that was built with the tests, in the test bundle's folder or above.
package func builtProgram(_ name: String) throws -> String {
    let maps = String(decoding: try Data(contentsOf: URL(filePath: "/proc/self/maps")), as: UTF8.self)
    var candidates: [String] = []
    for line in maps.split(separator: "\n") where line.hasSuffix(".xctest") {
        if let start = line.firstIndex(of: "/") { candidates.append(String(line[start...])) }
    }
    for candidate in candidates + CommandLine.arguments {
        var folder = candidate.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        while !folder.isEmpty {
            let path = folder.joined(separator: "/") + "/\(name)"
            if FileStatus(target: path)?.kind == .file, access(path, X_OK) == 0 { return path }
            folder = folder.dropLast()
        }
    }
    throw NotBuilt(program: name)
}
