import Core
import Glibc
import System

/// Writes the checksums of a recording in progress to `audio.sums`, one line per second; see `SumLine`.
///
/// Used on the writer thread. A line is written once its audio is on the disk, and need not be synced, because
/// `RecordingSums.complete` restores lines lost in a power cut. Errors do not affect the recording; the next sync tries
/// again.
final class RunningSums {
    private let silentPiece: AudioChecksum
    private let channels: Int

    private let file: FileDescriptor
    private var checksum = AudioChecksum()
    /// The start of the current piece and the current position, in samples.
    private var start: Int64 = 0
    private var position: Int64 = 0
    /// The lines of pieces whose audio may not be on the disk yet.
    private var pending: [SumLine] = []
    /// The lines that have not been written to the file yet.
    private var bytes: [UInt8] = []
    private var written: Int64 = 0

    /// Creates the checksum file. Returns nil if that fails.
    init?(beside audio: String, channels: Int) {
        guard let location = try? RecordingLocation(audio),
            let file = try? location.folder.openFile(RecordingSums.path(for: location.name), O_RDWR | O_CREAT | O_EXCL)
        else { return nil }
        self.file = file
        self.channels = channels
        var silence = AudioChecksum()
        silence.addSilence(Int(SumLine.piece) * channels)
        silentPiece = silence
        pending.reserveCapacity(64)
        bytes.reserveCapacity(64 * SumLine.size)
    }

    /// Adds the next samples, interleaved if there are two channels.
    func add(_ samples: UnsafeBufferPointer<Int16>) {
        var rest = samples
        while !rest.isEmpty {
            let count = min(rest.count / channels, Int(start + SumLine.piece - position))
            checksum.add(UnsafeBufferPointer(rebasing: rest[..<(count * channels)]))
            advance(by: count)
            rest = UnsafeBufferPointer(rebasing: rest[(count * channels)...])
        }
    }

    func addSilence(_ samples: Int) {
        var remaining = samples
        while remaining > 0 {
            let count = min(remaining, Int(start + SumLine.piece - position))
            // Nearly all pieces in a long gap are complete.
            if count == SumLine.piece { checksum = silentPiece } else { checksum.addSilence(count * channels) }
            advance(by: count)
            remaining -= count
        }
    }

    /// Writes the lines of all pieces before `position`, up to which the audio is on the disk.
    func settle(upTo position: SamplePosition) {
        let settled = pending.prefix { $0.start + $0.count <= position.samples }
        for line in settled { line.append(to: &bytes) }
        pending.removeFirst(settled.count)
        guard !bytes.isEmpty, (try? bytes.withUnsafeBytes { try file.write($0, at: written) }) != nil else { return }
        written += Int64(bytes.count)
        bytes.removeAll(keepingCapacity: true)
    }

    /// Writes the remaining lines after the recording was closed at `end`. If audio of the last piece is missing, it
    /// gets no line.
    func finish(at end: SamplePosition) {
        if position > start, position <= end.samples { close() }
        settle(upTo: end)
    }

    func sync() { try? file.sync() }

    private func advance(by count: Int) {
        position += Int64(count)
        if position - start == SumLine.piece { close() }
    }

    private func close() {
        pending.append(SumLine(start: start, count: position - start, checksum: checksum.value))
        start = position
        checksum = AudioChecksum()
    }
}
