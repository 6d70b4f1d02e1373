import Core

/// Checks that the storage folder keeps its name. If it was renamed or removed, the service reports a fault; the
/// current recording ends in the old folder, and the appliance restarts with the folder that has the name.
struct StorageService: Service {
    private static let period = Duration.seconds(1)

    /// How long the folder may be missing, for example while a disk is replaced.
    private static let graceTime = Duration.seconds(10)

    let name = "storage"
    let recorder: Recorder
    let restart: @Sendable () -> Void

    func run() async throws {
        var since: ContinuousClock.Instant?
        while true {
            try await Task.sleep(for: Self.period)
            do {
                try recorder.archive.checkPlace()
                if since != nil { await recorder.archive.keepLog(false) }
                since = nil
            } catch {
                if since == nil {
                    since = .now
                    recorder.hub.publish(fault: DeviceError(wrapping: error))
                    await recorder.archive.keepLog(true)
                }
                guard let first = since, ContinuousClock.now - first >= Self.graceTime,
                    await recorder.prepareForRestart()
                else { continue }
                restart()
                return await untilCancelled()
            }
        }
    }
}
