import Core
import Maintenance

extension Recorder {
    /// Redacts a range of a recording; of the current one, up to now.
    ///
    /// - Returns: the recording, and remarks for the user.
    func redact(_ order: RedactionOrder) async throws -> (recording: Int, notes: [String]) {
        try archive.checkPlace()
        let redaction = Redaction(storage: configuration.storage.directory, archive: archive)
        guard let live = snapshot.live, order.recording ?? live.id == live.id else {
            return try await redaction.redact(order)
        }
        return try await redact(order, of: live, upTo: live.session.heard)
    }

    private func redact(
        _ order: RedactionOrder, of live: LiveRecording, upTo end: SamplePosition
    ) async throws -> (recording: Int, notes: [String]) {
        let id = live.id
        _ = try order.range(of: id, upTo: end)
        // The pauses before `end` are known only once the audio up to there is on the disk.
        try await live.settle(upTo: end)
        let range = try order.range(of: id, upTo: end, pauses: live.observer.pauses)
        let redaction = Redaction(storage: configuration.storage.directory, archive: archive)
        let notes = try await redaction.redact(range, of: id, isGrowing: true)
        hub.publish(.gap(recording: id, gap: Gap(range, cause: .redacted)))
        // If it has ended meanwhile, its repairs may have run before this redaction.
        if snapshot.live?.id != id { try await redaction.finish(id) }
        return (id, notes)
    }

    /// Redacts the last recorded minute before a monotonic time; if that is in a pause, the minute before the pause.
    func redactMinute(before time: Duration, of id: Int) async throws {
        guard let live = snapshot.live, live.id == id else { return }
        let ago = max(.zero, PanelController.now - time) / .seconds(1)
        let position = live.position - SamplePosition(seconds: ago).samples
        _ = try await redact(
            RedactionOrder(recording: id, last: 60), of: live, upTo: max(.zero, min(live.session.heard, position)))
    }
}
