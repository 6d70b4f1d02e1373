import Core
import Glibc
import System

/// The checksums of a recording while it is written: `audio.sums` beside it, a line a second; see `SumLine`.
///
/// Used on the writer thread. It costs no sync: a line is written once its sound is safe, and what a power cut takes of the
/// lines `RecordingSums.complete` makes anew. Nothing that fails here concerns the recording; it is tried again with
/// the next sync.
final class RunningSums {
    /// That of a whole piece of silence.
    private let silentPiece: AudioChecksum
    private let channels: Int

    private let file: FileDescriptor
    private var checksum = AudioChecksum()
    /// Where the piece begins that is being added up, and how far that is, in samples.
    private var start: Int64 = 0
    private var position: Int64 = 0
    /// Pieces whose sound may not be safe yet.
    private var pending: [SumLine] = []
    /// Lines that are not in the file yet.
    private var bytes: [UInt8] = []
    private var written: Int64 = 0

    /// Makes the file beside a recording's; nil where that cannot be.
    init?(beside audio: String, channels: Int = 1) {
        guard let place = try? RecordingPlace(audio),
            let file = try? place.folder.openFile(RecordingSums.name(for: place.name), O_RDWR | O_CREAT | O_EXCL)
        else { return nil }
        self.file = file
        self.channels = channels
        var silence = AudioChecksum()
        silence.addSilence(Int(SumLine.piece) * channels)
        silentPiece = silence
        pending.reserveCapacity(64)
        bytes.reserveCapacity(64 * SumLine.size)
    }

    /// Adds samples, those of two channels interleaved, which follow those before.
    func add(_ samples: UnsafeBufferPointer<Int16>) {
        var rest = samples
        while !rest.isEmpty {
            let count = min(rest.count / channels, Int(start + SumLine.piece - position))
            checksum.add(UnsafeBufferPointer(rebasing: rest[..<(count * channels)]))
            advance(by: count)
            rest = UnsafeBufferPointer(rebasing: rest[(count * channels)...])
        }
    }

    /// Adds so many samples of silence.
    func addSilence(_ samples: Int) {
        var left = samples
        while left > 0 {
            let count = min(left, Int(start + SumLine.piece - position))
            // Of a gap of hours nearly all pieces are this one.
            if count == SumLine.piece { checksum = silentPiece } else { checksum.addSilence(count * channels) }
            advance(by: count)
            left -= count
        }
    }

    /// Writes the lines of all pieces that end before `position`, up to which the sound is safe.
    func settle(upTo position: SamplePosition) {
        let settled = pending.prefix { $0.start + $0.count <= position.samples }
        for line in settled { line.append(to: &bytes) }
        pending.removeFirst(settled.count)
        flush()
    }

    /// Writes what is left, once the recording is closed at `end`; a last piece of which not all is there has no line.
    func finish(at end: SamplePosition) {
        if position > start, position <= end.samples { close() }
        settle(upTo: end)
    }

    /// Returns once the lines are on the disk, or cannot be.
    func sync() { try? file.sync() }

    private func advance(by count: Int) {
        position += Int64(count)
        if position - start == SumLine.piece { close() }
    }

    /// Ends the piece.
    private func close() {
        pending.append(SumLine(start: start, count: position - start, checksum: checksum.value))
        start = position
        checksum = AudioChecksum()
    }

    private func flush() {
        guard !bytes.isEmpty else { return }
        var isWritten = true
        bytes.withUnsafeBytes { bytes in
            do throws(DeviceError) { try file.write(bytes, at: written) } catch { isWritten = false }
        }
        guard isWritten else { return }
        written += Int64(bytes.count)
        bytes.removeAll(keepingCapacity: true)
    }
}
