import Core
import System

extension Log {
    /// Logs a storage finding.
    package static func tell(_ finding: StorageFinding) {
        tell(
            finding.outcome == .damaged ? .error : .notice, "recovery",
            ["outcome": finding.outcome.rawValue, "file": finding.file, "message": finding.message])
    }
}
