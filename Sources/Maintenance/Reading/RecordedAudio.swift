import Audio
import Core
import Recognition
import Synchronization

/// A closed recording as the source of a transcription. Disk errors have a type of their own because, unlike errors
/// from the engine and the archive, they affect only this recording.
struct RecordedAudio: AudioSource {
    /// The recording cannot be read.
    struct Unreadable: Error { var error: DeviceError }

    private let source: any AudioSource

    init(_ source: any AudioSource) { self.source = source }

    /// Checks that the recording can be opened. Called before anything is written about it.
    static func check(_ path: String) throws {
        do throws(DeviceError) { _ = try RecordingReader(path: path) } catch { throw Unreadable(error: error) }
    }

    /// Creates a source for the audio of a recording from a position.
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
