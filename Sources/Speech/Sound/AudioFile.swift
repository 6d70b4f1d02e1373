import Core
import FoundationEssentials
import Recognition
import Synchronization

/// An audio file of any length, as an asynchronous sequence of inputs for an analyzer. It replaces AVFAudio's
/// `AVAudioFile`.
///
/// The file can have any format that libsndfile or, if it is installed, ffmpeg can read. Each iteration reads it from
/// its beginning, two seconds at a time. If part of a damaged file is missing, the `bufferStartTime` of the next buffer
/// shows where the audio continues. If the end is missing, the last buffer is empty and starts where the audio should
/// end.
public final class AudioFile: AsyncSequence, Sendable {
    /// A buffer with its start time.
    public typealias Element = AnalyzerInput

    /// The file's URL.
    public let url: URL
    /// The duration according to the file's header, in seconds; nil if the header does not have it.
    public let estimatedDuration: Double?
    private let missingParts = Mutex<String?>(nil)
    /// The first iteration uses the file that `init` opened.
    private let opened: Mutex<FileAudioSource?>

    /// Opens a file.
    ///
    /// - Throws: ``SFSpeechError`` with `audioReadFailed`. The message names the file and a remedy.
    public init(url: URL) throws {
        self.url = url
        let source = try Self.open(url)
        estimatedDuration = source.estimatedLength?.seconds
        opened = Mutex(source)
    }

    /// A description of the missing parts of a damaged file, in one line; nil if nothing is missing, or if no iteration
    /// has reached the end yet.
    public var damage: String? { missingParts.withLock { $0 } }

    /// Returns an iterator that reads the file from its beginning.
    public func makeAsyncIterator() -> Iterator { Iterator(file: self) }

    fileprivate func source() throws -> FileAudioSource {
        let first = opened.withLock { opened in
            defer { opened = nil }
            return opened
        }
        return try first ?? Self.open(url)
    }

    fileprivate func storeDamage(of source: FileAudioSource) { missingParts.withLock { $0 = source.report.damage } }

    private static func open(_ url: URL) throws -> FileAudioSource {
        do { return try FileAudioSource(path: url.path) } catch {
            throw SFSpeechError(error, orElse: .audioReadFailed)
        }
    }

    /// Reads a file. Use it in only one task.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let file: AudioFile
        private var source: FileAudioSource?
        /// The number of samples missing before the next buffer.
        private var missing: Int64 = 0
        /// The start of the next buffer, if samples are missing before it.
        private var start: AudioTime?

        fileprivate init(file: AudioFile) { self.file = file }

        /// Reads the next two seconds. Returns nil at the end.
        ///
        /// - Throws: ``SFSpeechError`` with `audioReadFailed` if the file cannot be read.
        public mutating func next() async throws -> AnalyzerInput? {
            do {
                let source = try source ?? file.source()
                self.source = source
                while let chunk = try await source.next() {
                    switch chunk {
                    case .gap(let gap):
                        missing += gap.range.end - gap.range.start
                        start = AudioTime(gap.range.end)
                    case .samples(let samples): return input(samples)
                    }
                }
                if missing > 0 { return input([]) }
                file.storeDamage(of: source)
                return nil
            } catch { throw SFSpeechError(error, orElse: .audioReadFailed) }
        }

        private mutating func input(_ samples: [Int16]) -> AnalyzerInput {
            defer { (missing, start) = (0, nil) }
            return AnalyzerInput(buffer: AudioBuffer(int16: samples), missing: missing, before: start)
        }
    }
}
