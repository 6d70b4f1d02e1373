import Core

/// Checks that the storage folder is still at its path. If it was renamed or removed, the service reports a fault. The
/// current recording continues in the old folder. Once it has ended, the appliance restarts with the configured path.
struct StorageService: Service {
    private static let checkInterval = Duration.seconds(1)

    /// How long the folder may be missing before the appliance restarts, for example while a disk is replaced.
    private static let gracePeriod = Duration.seconds(10)

    let name = "storage"
    let recorder: Recorder
    let restart: @Sendable () -> Void

    func run() async throws {
        var missingSince: ContinuousClock.Instant?
        while true {
            try await Task.sleep(for: Self.checkInterval)
            do {
                try recorder.archive.checkLocation()
                if missingSince != nil { await recorder.archive.keepLog(false) }
                missingSince = nil
            } catch {
                if missingSince == nil {
                    missingSince = .now
                    recorder.hub.publish(fault: DeviceError(wrapping: error))
                    await recorder.archive.keepLog(true)
                }
                guard let since = missingSince, ContinuousClock.now - since >= Self.gracePeriod,
                    await recorder.prepareForRestart()
                else { continue }
                restart()
                return await waitUntilCancelled()
            }
        }
    }
}
