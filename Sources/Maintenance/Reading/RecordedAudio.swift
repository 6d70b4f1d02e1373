import Audio
import Core
import Recognition
import Synchronization

/// A closed recording as the source of a transcription. Disk errors have their own type, because they affect only this
/// recording, unlike errors from the engine and the archive.
struct RecordedAudio: AudioSource {
    struct Unreadable: Error { var error: DeviceError }

    private let source: any AudioSource

    init(_ source: any AudioSource) { self.source = source }

    /// Checks that a recording can be opened. Call this before writing to the archive.
    static func check(_ path: String) throws {
        do throws(DeviceError) { _ = try RecordingReader(path: path) } catch { throw Unreadable(error: error) }
    }

    init(of recording: RecordingSummary, at path: String, gaps: [Gap], from start: SamplePosition = .zero) {
        let source = LiveAudioSource(
            path: path, progress: RecordingProgress(upTo: recording.length, hasEnded: true), start: start)
        for gap in gaps {
            let range = SampleRange(max(start, gap.range.start), min(recording.length, gap.range.end))
            if !range.isEmpty { source.addGap(Gap(range, cause: gap.cause)) }
        }
        self.init(source)
    }

    func next() async throws -> AudioChunk? {
        do { return try await source.next() } catch let error as DeviceError { throw Unreadable(error: error) }
    }
}

/// Recordings whose audio could not be read. Each is reported once and then skipped until the appliance restarts.
package final class UnreadableRecordings: Sendable {
    private let ids = Mutex<Set<Int>>([])

    func contains(_ recording: Int) -> Bool { ids.withLock { $0.contains(recording) } }

    func insert(_ recording: Int) { ids.withLock { _ = $0.insert(recording) } }
}
