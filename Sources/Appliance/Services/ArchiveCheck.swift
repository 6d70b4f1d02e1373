import Archive
import Core
import Maintenance
import Settings
import System

/// Reads all of a large database for damage behind the start. Where it is damaged, it says so, and ends the appliance once
/// nothing is being recorded: the next start rebuilds it.
struct ArchiveCheck: Service {
    /// How often a recording is looked at that has to end before.
    private static let period = Duration.seconds(1)

    let name = "check"
    let recorder: Recorder

    /// Ends the appliance.
    let ends: @Sendable (DeviceError) -> Void

    func run() async throws {
        do { try await recorder.archive.check() } catch let error as DeviceError where error.code == .damaged {
            try Suspicion(of: recorder.configuration.archivePath).raise()
            let told = DeviceError(
                .damaged, error.operation,
                "\(recorder.configuration.archivePath): the database is damaged; the appliance restarts once nothing is "
                    + "being recorded, and rebuilds it from the journals")
            recorder.hub.publish(fault: told)
            while recorder.snapshot.isOpen { try await Task.sleep(for: Self.period) }
            ends(told)
        }
        await untilCancelled()
    }
}
