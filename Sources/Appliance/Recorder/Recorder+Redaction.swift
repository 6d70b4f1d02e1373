import Core
import Maintenance

extension Recorder {
    /// Strikes a stretch of a recording, be it the one that goes on; of that, what was heard by now.
    ///
    /// - Returns: which recording that was, and what a person should know besides.
    func strike(_ order: RedactionOrder) async throws -> (recording: Int, notes: [String]) {
        try archive.checkPlace()
        let striking = Redaction(storage: configuration.storage.directory, archive: archive)
        guard let live = snapshot.live, order.recording ?? live.id == live.id else {
            return try await striking.strike(order)
        }
        return try await strike(order, of: live, upTo: live.heard)
    }

    private func strike(
        _ order: RedactionOrder, of live: LiveRecording, upTo end: SamplePosition
    ) async throws -> (recording: Int, notes: [String]) {
        let id = live.id
        _ = try order.range(of: id, upTo: end)
        // Then the pauses before it are known, too.
        try await live.settle(upTo: end)
        let range = try order.range(of: id, upTo: end, pauses: live.pauses)
        let striking = Redaction(storage: configuration.storage.directory, archive: archive)
        let notes = try await striking.strike(range, of: id, isGrowing: true)
        hub.publish(.gap(recording: id, gap: Gap(range, cause: .struck)))
        // One that has ended meanwhile may have been looked at before this.
        if snapshot.live?.id != id { try await striking.finish(id) }
        return (id, notes)
    }

    /// Strikes the last minute that was taken of the recording that goes on by a monotonic time: of what was said before a pause, where
    /// that was in one.
    func strikeMinute(before time: Duration, of id: Int) async throws {
        guard let live = snapshot.live, live.id == id else { return }
        let ago = max(.zero, PanelController.now - time) / .seconds(1)
        let position = live.position - SamplePosition(seconds: ago).samples
        _ = try await strike(
            RedactionOrder(recording: id, last: 60), of: live, upTo: max(.zero, min(live.heard, position)))
    }
}
