import Appliance
import Core
import Synchronization

/// The current appliance, for signal handlers. One may follow another.
final class ApplianceHandle: Sendable {
    private let state = Mutex<(house: Appliance?, isStopped: Bool)>((nil, false))

    /// Whether the appliance is to end.
    var isStopped: Bool { state.withLock { $0.isStopped } }

    /// Sets the current appliance, and stops it immediately if the process is ending.
    func begin(_ house: Appliance) {
        if state.withLock({ state in
            state.house = house
            return state.isStopped
        }) {
            house.stop()
        }
    }

    func end() { state.withLock { $0.house = nil } }

    func stop() {
        state.withLock { state in
            state.isStopped = true
            return state.house
        }?.stop()
    }

    /// Waits until the recording is closed; returns immediately without an appliance.
    ///
    /// - Returns: what was lost because the disk refused it.
    func awaitClosing() -> DeviceError? { state.withLock(\.house)?.awaitClosing() }
}
