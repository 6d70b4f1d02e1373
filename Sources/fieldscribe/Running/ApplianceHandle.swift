import Appliance
import Core
import Synchronization

/// The appliance that runs now, for the signals that end it: one may follow another.
final class ApplianceHandle: Sendable {
    private let state = Mutex<(house: Appliance?, isStopped: Bool)>((nil, false))

    /// Whether the appliance was told to end.
    var isStopped: Bool { state.withLock { $0.isStopped } }

    /// The appliance that runs from here on; one that comes too late is stopped at once.
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

    /// Waits until what is being recorded is closed; at once where no appliance runs.
    ///
    /// - Returns: what was lost, where the disk has not taken it.
    func awaitClosing() -> DeviceError? { state.withLock(\.house)?.awaitClosing() }
}
