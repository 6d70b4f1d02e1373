import Core
import FileMicrophone
import Platform
import Recognizing

/// An audio file, or standard input, as the source of a transcription: as fast as it is asked for.
// Safety: a transcription reads its source from one task at a time, and `next` is its only way in.
package final class FileAudioSource: AudioSource, @unchecked Sendable {
    /// Audio that one step reads: 2 s.
    private static let chunk = 2 * SamplePosition.rate

    private let reader: AudioFileReader

    /// Opens a file; `-` is standard input.
    ///
    /// - Throws: `DeviceError` that names the file and the remedy.
    package init(path: String) throws(DeviceError) {
        reader =
            try path == "-"
            ? AudioFileReader(descriptor: 0, named: "standard input") : AudioFileReader(path: path)
    }

    /// The file's own length, where its header tells.
    package var estimatedLength: SamplePosition? { reader.estimatedLength }

    /// What was wrong with the file, known after its end: one line.
    package var damage: String? { reader.damage }

    package func next() async throws -> AudioChunk? {
        try await onThread(named: "file") {
            let samples = try [Int16](unsafeUninitializedCapacity: Self.chunk) { buffer, count in
                while count < buffer.count {
                    let more = try self.reader.read(into: UnsafeMutableBufferPointer(rebasing: buffer[count...]))
                    if more == 0 { break }
                    count += more
                }
            }
            return samples.isEmpty ? nil : .samples(samples)
        }
    }
}
