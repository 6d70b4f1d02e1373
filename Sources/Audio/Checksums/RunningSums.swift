import Core
import Glibc
import System

/// Writes the checksums of a recording in progress to `audio.sums`, one line per second; see `SumLine`.
///
/// Used on the writer thread. A line is written once its audio is on the disk. It need not be synced, because
/// `RecordingSums.complete` restores lines lost in a power cut. Errors do not affect the recording; the next sync tries
/// again.
final class RunningSums {
    /// The checksum of a silent piece.
    private let silence: AudioChecksum
    private let channels: Int

    private let file: FileDescriptor
    private var checksum = AudioChecksum()
    /// The start of the current piece and the current position, in samples.
    private var start: Int64 = 0
    private var position: Int64 = 0
    /// The lines of pieces whose audio may not be on the disk yet.
    private var pendingLines: [SumLine] = []
    /// The lines to write to the file next.
    private var unwrittenBytes: [UInt8] = []
    private var writtenBytes: Int64 = 0

    /// Creates the checksum file. Returns nil if that fails.
    init?(beside audio: String, channels: Int) {
        guard let location = try? RecordingLocation(audio),
            let file = try? location.folder.openFile(RecordingSums.path(for: location.name), O_RDWR | O_CREAT | O_EXCL)
        else { return nil }
        self.file = file
        self.channels = channels
        var silence = AudioChecksum()
        silence.addSilence(Int(SumLine.pieceSamples) * channels)
        self.silence = silence
        pendingLines.reserveCapacity(64)
        unwrittenBytes.reserveCapacity(64 * SumLine.size)
    }

    /// Adds the next samples, interleaved if there are two channels.
    func add(_ samples: UnsafeBufferPointer<Int16>) {
        var rest = samples
        while !rest.isEmpty {
            let count = min(rest.count / channels, Int(start + SumLine.pieceSamples - position))
            checksum.add(UnsafeBufferPointer(rebasing: rest[..<(count * channels)]))
            advance(by: count)
            rest = UnsafeBufferPointer(rebasing: rest[(count * channels)...])
        }
    }

    func addSilence(_ samples: Int) {
        var remaining = samples
        while remaining > 0 {
            let count = min(remaining, Int(start + SumLine.pieceSamples - position))
            // Nearly all pieces in a long gap are complete.
            if count == SumLine.pieceSamples { checksum = silence } else { checksum.addSilence(count * channels) }
            advance(by: count)
            remaining -= count
        }
    }

    /// Writes the lines of all pieces before `position`. Audio before it must be on the disk.
    func writeLines(upTo position: SamplePosition) {
        let lines = pendingLines.prefix { $0.start + $0.count <= position.samples }
        for line in lines { line.append(to: &unwrittenBytes) }
        pendingLines.removeFirst(lines.count)
        guard !unwrittenBytes.isEmpty,
            (try? unwrittenBytes.withUnsafeBytes { try file.write($0, at: writtenBytes) }) != nil
        else { return }
        writtenBytes += Int64(unwrittenBytes.count)
        unwrittenBytes.removeAll(keepingCapacity: true)
    }

    /// Writes the remaining lines after the recording was closed at `end`. If `end` is before the last added sample, the
    /// last piece gets no line.
    func finish(at end: SamplePosition) {
        if position > start, position <= end.samples { finishPiece() }
        writeLines(upTo: end)
    }

    func sync() { try? file.sync() }

    private func advance(by count: Int) {
        position += Int64(count)
        if position - start == SumLine.pieceSamples { finishPiece() }
    }

    private func finishPiece() {
        pendingLines.append(SumLine(start: start, count: position - start, checksum: checksum.value))
        start = position
        checksum = AudioChecksum()
    }
}
