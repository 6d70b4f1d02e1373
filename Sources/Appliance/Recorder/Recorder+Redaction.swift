import Core
import Maintenance

extension Recorder {
    /// Redacts a range of a recording. In the current recording, the range may extend up to now.
    ///
    /// - Returns: the recording number and notes for the user.
    func redact(_ request: RedactionRequest) async throws -> (recording: Int, notes: [String]) {
        try archive.checkLocation()
        let redaction = Redaction(storage: configuration.storage.directory, archive: archive)
        guard let live = snapshot.live, request.recording ?? live.id == live.id else {
            return try await redaction.redact(request)
        }
        return try await redact(request, of: live, upTo: live.session.capturedAudioEnd)
    }

    private func redact(
        _ request: RedactionRequest, of live: LiveRecording, upTo end: SamplePosition
    ) async throws -> (recording: Int, notes: [String]) {
        let id = live.id
        _ = try request.range(of: id, upTo: end)
        // The pauses before `end` are known only once the audio up to there is on the disk.
        try await live.flush(upTo: end)
        let range = try request.range(of: id, upTo: end, pauses: live.observer.pauses)
        let redaction = Redaction(storage: configuration.storage.directory, archive: archive)
        let notes = try await redaction.redact(range, of: id, isGrowing: true)
        hub.publish(.gap(recording: id, gap: Gap(range, cause: .redacted)))
        // If the recording has ended meanwhile, its repairs may have run too early to complete this redaction.
        if snapshot.live?.id != id { try await redaction.finish(id) }
        return (id, notes)
    }

    /// Redacts the minute that was recorded before a time on the monotonic clock. If that time is in a pause, redacts
    /// the minute before the pause. Does nothing if the recording has ended.
    func redactMinute(before time: Duration, of id: Int) async throws {
        guard let live = snapshot.live, live.id == id else { return }
        let ago = max(.zero, PanelController.now - time) / .seconds(1)
        let position = live.position - SamplePosition(seconds: ago).samples
        _ = try await redact(
            RedactionRequest(recording: id, last: 60), of: live,
            upTo: max(.zero, min(live.session.capturedAudioEnd, position)))
    }
}
