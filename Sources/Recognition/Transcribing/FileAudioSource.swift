import Audio
import Core
import Synchronization
import System

/// The audio from a file or standard input, as fast as it can be read.
package final class FileAudioSource: AudioSource {
    /// The maximum number of samples in a chunk, over all channels: 2 s of mono audio.
    private static let chunkSamples = 2 * SamplePosition.rate

    private struct State {
        let reader: AudioFileReader
        /// The position of the next samples.
        var position = SamplePosition.zero
        var reportedGapCount = 0
        var pending: [AudioChunk] = []
    }

    private let state: Mutex<State>

    /// The number of interleaved channels that `next` returns: 2 if the file has two and both are kept, otherwise 1.
    package let channels: Int

    /// Opens a file; `-` is standard input.
    ///
    /// - Parameters:
    ///   - keeping: 2 to keep both channels of a stereo file; 1 to mix them. Standard input is always mixed.
    ///   - track: the track to decode if the file is a container.
    /// - Throws: `DeviceError` that names the file and the remedy.
    package init(path: String, keeping: Int = 1, track: SoundTrack = .automatic) throws(DeviceError) {
        let reader =
            try path == "-"
            ? AudioFileReader(descriptor: 0, named: "standard input", track: track)
            : AudioFileReader(path: path, keeping: keeping, track: track)
        channels = reader.outputs
        state = Mutex(State(reader: reader))
    }

    /// The length from the file's header; nil if unknown.
    package var estimatedLength: SamplePosition? { state.withLock { $0.reader.estimatedLength } }

    /// The reader's report on the file, which is complete once the whole file has been read.
    package var report: SoundReport { state.withLock { $0.reader.report } }

    package func next() async throws -> AudioChunk? {
        try await onThread(named: "file") {
            try self.state.withLock { state in
                if state.pending.isEmpty { try self.read(&state) }
                return state.pending.isEmpty ? nil : state.pending.removeFirst()
            }
        }
    }

    private func read(_ state: inout State) throws {
        let reader = state.reader
        let samples = try [Int16](unsafeUninitializedCapacity: Self.chunkSamples) { buffer, count in
            while count < buffer.count {
                let readCount = try reader.read(into: UnsafeMutableBufferPointer(rebasing: buffer[count...]))
                if readCount == 0 { break }
                count += readCount
            }
        }
        state.pending = chunks(of: samples, &state)
    }

    /// Returns the samples, with gaps in place of the silence that the reader inserts for missing audio.
    private func chunks(of samples: [Int16], _ state: inout State) -> [AudioChunk] {
        guard !samples.isEmpty else { return [] }
        let range = SampleRange(state.position, state.position + Int64(samples.count / channels))
        state.position = range.end
        // Diarization by channels counts positions itself and does not expect gaps.
        guard channels == 1 else { return [.samples(samples)] }
        var chunks: [AudioChunk] = []
        var doneUpTo = range.start
        for gap in state.reader.report.gaps.dropFirst(state.reportedGapCount) {
            guard let part = gap.intersection(range) else { break }
            if part.start > doneUpTo {
                chunks.append(.samples(Array(samples[Int(doneUpTo - range.start)..<Int(part.start - range.start)])))
            }
            chunks.append(.gap(Gap(part, cause: .damage)))
            doneUpTo = part.end
            if gap.end <= range.end { state.reportedGapCount += 1 }
        }
        if doneUpTo < range.end { chunks.append(.samples(Array(samples[Int(doneUpTo - range.start)...]))) }
        return chunks
    }
}
