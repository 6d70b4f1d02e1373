import Core
import Platform
import Recording

// Seam: `LiveRecording` is being given `position`, `mark(_:)` and `diskProgress` of its own. Until it has them, they are
// read off the growing file; then this file goes, and `Recorder` holds a `LiveRecording` in its place.

/// A recording that goes on, as the recorder sees it.
struct LiveSeam: Sendable {
    let id: Int
    let recording: LiveRecording
    private let archive: any Archive
    private let hub: EventHub

    init(_ recording: LiveRecording, archive: any Archive, hub: EventHub) {
        id = recording.folder.path.split(separator: "/").last.flatMap { Int($0) } ?? 0
        self.recording = recording
        self.archive = archive
        self.hub = hub
    }

    /// How much is in the file; it grows four times a second.
    var position: SamplePosition {
        guard let reader = try? RecordingReader(path: recording.folder.audio) else { return .zero }
        return (try? reader.length) ?? .zero
    }

    /// Keeps a mark at the place that was recorded so long ago.
    func mark(_ text: String, ago: Duration) async throws -> Mark {
        let back = Int64(SamplePosition.rate) * ago.milliseconds / 1_000
        let mark = Mark(max(.zero, position - back), text: text)
        try await archive.add(mark, recording: id)
        hub.publish(.mark(recording: id, mark: mark))
        return mark
    }
}
