import Archive
import Core
import Maintenance
import Settings

/// Checks a database that was too large to be checked for damage during the start. If it is damaged, the service
/// reports that, and stops the appliance once nothing is being recorded. The next start rebuilds the database.
struct ArchiveCheck: Service {
    /// How often to check whether a recording is still running.
    private static let checkInterval = Duration.seconds(1)

    let name = "check"
    let recorder: Recorder
    let stopAppliance: @Sendable (DeviceError) -> Void

    func run() async throws {
        do { try await recorder.archive.check() } catch let error as DeviceError where error.code == .damaged {
            try DamageMarker(of: recorder.configuration.archivePath).create()
            let fault = DeviceError(
                .damaged, error.operation,
                "\(recorder.configuration.archivePath): the database is damaged; once nothing is being recorded, the "
                    + "appliance restarts and rebuilds it from the journals")
            recorder.hub.publish(fault: fault)
            while recorder.snapshot.isOpen { try await Task.sleep(for: Self.checkInterval) }
            stopAppliance(fault)
        }
        await waitUntilCancelled()
    }
}
