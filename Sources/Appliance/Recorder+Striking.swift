import Core
import Upkeep

extension Recorder {
    /// Strikes a stretch of a recording, be it the one that goes on; of that, what was heard by now.
    ///
    /// - Returns: which recording that was, and what a person should know besides.
    func strike(_ order: StrikeOrder) async throws -> (recording: Int, notes: [String]) {
        let striking = Striking(storage: configuration.storage.directory, archive: archive)
        guard let live = snapshot.live, order.recording ?? live.id == live.id else {
            return try await striking.strike(order)
        }
        let id = live.id
        let range = try order.range(of: id, upTo: live.heard)
        try await live.settle(upTo: range.end)
        let notes = try await striking.strike(range, of: id, isGrowing: true)
        hub.publish(.gap(recording: id, gap: Gap(range, cause: .struck)))
        // One that has ended meanwhile may have been looked at before this.
        if snapshot.live?.id != id { try await striking.finish(id) }
        return (id, notes)
    }

    /// Strikes the minute of the recording that goes on that was over at a monotonic time.
    func strikeMinute(before time: Duration, of id: Int) async throws {
        guard let live = snapshot.live, live.id == id else { return }
        let to = live.position.seconds - max(.zero, PanelController.now - time) / .seconds(1)
        _ = try await strike(StrikeOrder(recording: id, from: max(0, to - 60), to: max(0, to)))
    }
}
