import Core
import System

extension Log {
    /// Logs a storage finding.
    package static func report(_ finding: StorageFinding) {
        report(
            finding.outcome == .damaged ? .error : .notice, "recovery",
            ["outcome": finding.outcome.rawValue, "file": finding.file, "message": finding.message])
    }
}
