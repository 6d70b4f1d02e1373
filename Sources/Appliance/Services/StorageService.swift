import Core

/// Watches that the storage folder keeps its name. If it was renamed or removed, a fault says so; the recording that goes on ends in it,
/// and the appliance is then put together again with what has the name.
struct StorageService: Service {
    /// How often the folder is looked for.
    private static let period = Duration.seconds(1)

    /// How long it may be without its name, as while somebody replaces a disk.
    private static let patience = Duration.seconds(10)

    let name = "storage"
    let recorder: Recorder

    /// Ends the appliance, in order to be put together again.
    let renew: @Sendable () -> Void

    func run() async throws {
        var since: ContinuousClock.Instant?
        while true {
            try await Task.sleep(for: Self.period)
            do {
                try recorder.archive.checkPlace()
                if since != nil { await recorder.archive.keepLog(false) }
                since = nil
            } catch {
                let first = since ?? .now
                if since == nil {
                    recorder.hub.publish(fault: DeviceError(wrapping: error))
                    await recorder.archive.keepLog(true)
                }
                since = first
                guard ContinuousClock.now - first >= Self.patience, await recorder.prepareForRestart() else { continue }
                renew()
                return await untilCancelled()
            }
        }
    }
}
