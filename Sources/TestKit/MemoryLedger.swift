import Core

package actor MemoryLedger: ExportLedger {
    package private(set) var entries: [ExportEntry]
    /// An error that the next `add` throws, once.
    private var failure: DeviceError?

    package init(_ entries: [ExportEntry] = []) { self.entries = entries }

    package func failOnce(_ error: DeviceError) { failure = error }

    package func exports(to volume: String) -> [ExportEntry] { entries.filter { $0.volume == volume } }

    package func exports(of recording: Int) -> [ExportEntry] { entries.filter { $0.recording == recording } }

    package func add(_ entry: ExportEntry) throws {
        if let failure {
            self.failure = nil
            throw failure
        }
        entries.append(entry)
    }
}
