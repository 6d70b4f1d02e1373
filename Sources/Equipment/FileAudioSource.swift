import Core
import FileMicrophone
import Platform
import Recognizing
import Synchronization

/// An audio file, or standard input, as the source of a transcription: as fast as it is asked for.
package final class FileAudioSource: AudioSource {
    /// Audio that one step reads: 2 s.
    private static let chunk = 2 * SamplePosition.rate

    private let reader: Mutex<AudioFileReader>

    /// Channels of what `next` gives, interleaved: 1, or 2 where both were to be kept and the file has two.
    package let channels: Int

    /// Opens a file; `-` is standard input.
    ///
    /// - Parameter keeping: 2 keeps both channels of a file that has two; they are mixed else.
    /// - Throws: `DeviceError` that names the file and the remedy.
    package init(path: String, keeping: Int = 1) throws(DeviceError) {
        let opened =
            try path == "-"
            ? AudioFileReader(descriptor: 0, named: "standard input") : AudioFileReader(path: path, keeping: keeping)
        channels = opened.outputs
        reader = Mutex(opened)
    }

    /// The file's own length, where its header tells.
    package var estimatedLength: SamplePosition? { reader.withLock { $0.estimatedLength } }

    /// What was wrong with the file, known after its end: one line.
    package var damage: String? { reader.withLock { $0.damage } }

    package func next() async throws -> AudioChunk? {
        try await onThread(named: "file") {
            let samples = try self.reader.withLock { reader in
                try [Int16](unsafeUninitializedCapacity: Self.chunk) { buffer, count in
                    while count < buffer.count {
                        let more = try reader.read(into: UnsafeMutableBufferPointer(rebasing: buffer[count...]))
                        if more == 0 { break }
                        count += more
                    }
                }
            }
            return samples.isEmpty ? nil : .samples(samples)
        }
    }
}
