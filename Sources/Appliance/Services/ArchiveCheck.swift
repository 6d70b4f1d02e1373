import Archive
import Core
import Maintenance
import Settings

/// Checks all of a large database for damage after the start. If it is damaged, the service reports that and ends the
/// appliance once nothing is being recorded; the next start rebuilds the database.
struct ArchiveCheck: Service {
    /// How often to check whether a recording is running.
    private static let period = Duration.seconds(1)

    let name = "check"
    let recorder: Recorder
    let ends: @Sendable (DeviceError) -> Void

    func run() async throws {
        do { try await recorder.archive.check() } catch let error as DeviceError where error.code == .damaged {
            try DamageMarker(of: recorder.configuration.archivePath).create()
            let fault = DeviceError(
                .damaged, error.operation,
                "\(recorder.configuration.archivePath): the database is damaged; the appliance restarts once nothing is "
                    + "being recorded, and rebuilds it from the journals")
            recorder.hub.publish(fault: fault)
            while recorder.snapshot.isOpen { try await Task.sleep(for: Self.period) }
            ends(fault)
        }
        await untilCancelled()
    }
}
