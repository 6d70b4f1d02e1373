import Core
import Glibc
import System

/// Writes the checksums of a recording in progress to `audio.sums`, one line per second; see `SumLine`.
///
/// Used on the writer thread. It needs no sync: a line is written once its audio is safe, and `RecordingSums.complete` restores
/// lines lost in a power cut. An error here does not affect the recording; the next sync tries again.
final class RunningSums {
    private let silentPiece: AudioChecksum
    private let channels: Int

    private let file: FileDescriptor
    private var checksum = AudioChecksum()
    /// The start and end of the current piece so far, in samples.
    private var start: Int64 = 0
    private var position: Int64 = 0
    /// Pieces whose audio may not be safe yet.
    private var pending: [SumLine] = []
    /// Lines that are not in the file yet.
    private var bytes: [UInt8] = []
    private var written: Int64 = 0

    /// Creates the checksum file; nil if that fails.
    init?(beside audio: String, channels: Int) {
        guard let place = try? RecordingPlace(audio),
            let file = try? place.folder.openFile(RecordingSums.path(for: place.name), O_RDWR | O_CREAT | O_EXCL)
        else { return nil }
        self.file = file
        self.channels = channels
        var silence = AudioChecksum()
        silence.addSilence(Int(SumLine.piece) * channels)
        silentPiece = silence
        pending.reserveCapacity(64)
        bytes.reserveCapacity(64 * SumLine.size)
    }

    /// Adds the next samples, interleaved for two channels.
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
        var left = samples
        while left > 0 {
            let count = min(left, Int(start + SumLine.piece - position))
            // Nearly all pieces of a long gap are whole.
            if count == SumLine.piece { checksum = silentPiece } else { checksum.addSilence(count * channels) }
            advance(by: count)
            left -= count
        }
    }

    /// Writes the lines of all pieces before `position`, up to which the audio is safe.
    func settle(upTo position: SamplePosition) {
        let settled = pending.prefix { $0.start + $0.count <= position.samples }
        for line in settled { line.append(to: &bytes) }
        pending.removeFirst(settled.count)
        guard !bytes.isEmpty, (try? bytes.withUnsafeBytes { try file.write($0, at: written) }) != nil else { return }
        written += Int64(bytes.count)
        bytes.removeAll(keepingCapacity: true)
    }

    /// Writes the rest of a closed recording that ends at `end`. An incomplete last piece gets no line.
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
