import Appliance
import Core
import Synchronization

/// The current appliance, for signal handlers. A restart replaces it.
final class ApplianceHandle: Sendable {
    private let state = Mutex<(appliance: Appliance?, isStopped: Bool)>((nil, false))

    /// Whether `stop` was called.
    var isStopped: Bool { state.withLock { $0.isStopped } }

    /// Sets the current appliance. Stops it immediately if `stop` was already called.
    func attach(_ appliance: Appliance) {
        if state.withLock({ state in
            state.appliance = appliance
            return state.isStopped
        }) {
            appliance.stop()
        }
    }

    func detach() { state.withLock { $0.appliance = nil } }

    func stop() {
        state.withLock { state in
            state.isStopped = true
            return state.appliance
        }?.stop()
    }

    /// Waits until the recording is closed and a grace period has passed, or until the disk stalls. Returns immediately
    /// if there is no appliance.
    ///
    /// - Returns: an error if the disk did not accept the end of the recording.
    func awaitClosing() -> DeviceError? { state.withLock(\.appliance)?.awaitClosing() }
}
