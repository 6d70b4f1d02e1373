import Audio
import Core
import Synchronization
import System

/// The audio from a file or standard input, as fast as it can be read.
package final class FileAudioSource: AudioSource {
    /// The number of samples in a chunk: 2 s.
    private static let chunk = 2 * SamplePosition.rate

    private struct State {
        let reader: AudioFileReader
        /// The position of the next samples.
        var position = SamplePosition.zero
        /// The number of reported gaps.
        var gaps = 0
        var pending: [AudioChunk] = []
    }

    private let state: Mutex<State>

    /// The number of interleaved channels that `next` returns: 2 if the file has two and both are kept, otherwise 1.
    package let channels: Int

    /// Opens a file; `-` is standard input.
    ///
    /// - Parameters:
    ///   - keeping: 2 to keep both channels of a stereo file; 1 to mix them.
    ///   - track: the track to decode if the file is a container.
    /// - Throws: `DeviceError` that names the file and the remedy.
    package init(path: String, keeping: Int = 1, track: SoundTrack = .automatic) throws(DeviceError) {
        let newReader =
            try path == "-"
            ? AudioFileReader(descriptor: 0, named: "standard input", track: track)
            : AudioFileReader(path: path, keeping: keeping, track: track)
        channels = newReader.outputs
        state = Mutex(State(reader: newReader))
    }

    /// The length from the file's header; nil if unknown.
    package var estimatedLength: SamplePosition? { state.withLock { $0.reader.estimatedLength } }

    /// The report on the audio that was read and on the file's content, which is complete at the end of the file.
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
        let samples = try [Int16](unsafeUninitializedCapacity: Self.chunk) { buffer, count in
            while count < buffer.count {
                let more = try reader.read(into: UnsafeMutableBufferPointer(rebasing: buffer[count...]))
                if more == 0 { break }
                count += more
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
        var done = range.start
        for gap in state.reader.report.gaps.dropFirst(state.gaps) {
            guard let part = gap.intersection(range) else { break }
            if part.start > done {
                chunks.append(.samples(Array(samples[Int(done - range.start)..<Int(part.start - range.start)])))
            }
            chunks.append(.gap(Gap(part, cause: .damage)))
            done = part.end
            if gap.end <= range.end { state.gaps += 1 }
        }
        if done < range.end { chunks.append(.samples(Array(samples[Int(done - range.start)...]))) }
        return chunks
    }
}
