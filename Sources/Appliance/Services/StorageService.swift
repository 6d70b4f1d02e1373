import Core

/// Checks that the storage folder is still at its path. If it was renamed or removed, the service reports a fault. The
/// current recording is completed in the old folder; then the appliance restarts with the folder at that path.
struct StorageService: Service {
    private static let checkInterval = Duration.seconds(1)

    /// The maximum time for which the folder may be missing, for example while a disk is replaced.
    private static let gracePeriod = Duration.seconds(10)

    let name = "storage"
    let recorder: Recorder
    let restart: @Sendable () -> Void

    func run() async throws {
        var since: ContinuousClock.Instant?
        while true {
            try await Task.sleep(for: Self.checkInterval)
            do {
                try recorder.archive.checkLocation()
                if since != nil { await recorder.archive.keepLog(false) }
                since = nil
            } catch {
                if since == nil {
                    since = .now
                    recorder.hub.publish(fault: DeviceError(wrapping: error))
                    await recorder.archive.keepLog(true)
                }
                guard let first = since, ContinuousClock.now - first >= Self.gracePeriod,
                    await recorder.prepareForRestart()
                else { continue }
                restart()
                return await untilCancelled()
            }
        }
    }
}
