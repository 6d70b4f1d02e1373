import Core
import FoundationEssentials
import Recognition
import Synchronization

/// An audio file of any length that libsndfile, or ffmpeg if installed, can read. It is an asynchronous sequence of
/// inputs for an analyzer. Each iteration reads the file from its beginning, two seconds at a time. Missing parts of a
/// damaged file appear as a later `bufferStartTime`; at the end of the file, as that of an empty buffer. It replaces
/// AVFAudio's `AVAudioFile`.
public final class AudioFile: AsyncSequence, Sendable {
    /// A buffer and its place in time.
    public typealias Element = AnalyzerInput

    /// The file.
    public let url: URL
    /// The length in the file's header, in seconds; nil if the header lacks it.
    public let estimatedDuration: Double?
    private let lacks = Mutex<String?>(nil)
    /// The first iteration uses the file that `init` opened.
    private let opened: Mutex<FileAudioSource?>

    /// Opens a file.
    ///
    /// - Throws: ``SFSpeechError`` with `audioReadFailed`, naming the file and the remedy.
    public init(url: URL) throws {
        self.url = url
        let source = try Self.open(url)
        estimatedDuration = source.estimatedLength?.seconds
        opened = Mutex(source)
    }

    /// The missing parts of a damaged file, in one line; nil if nothing is missing. Complete at the end of an
    /// iteration.
    public var damage: String? { lacks.withLock { $0 } }

    /// Reads the file from its beginning.
    public func makeAsyncIterator() -> Iterator { Iterator(file: self) }

    fileprivate func source() throws -> FileAudioSource {
        let first = opened.withLock { opened in
            defer { opened = nil }
            return opened
        }
        return try first ?? Self.open(url)
    }

    fileprivate func ended(_ source: FileAudioSource) { lacks.withLock { $0 = source.report.damage } }

    private static func open(_ url: URL) throws -> FileAudioSource {
        do { return try FileAudioSource(path: url.path) } catch {
            throw SFSpeechError(error, orElse: .audioReadFailed)
        }
    }

    /// Reads a file. Use it in one task.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let file: AudioFile
        private var source: FileAudioSource?
        /// The missing samples before the next ones, and where those begin in the file.
        private var missing: Int64 = 0
        private var start: AudioTime?

        fileprivate init(file: AudioFile) { self.file = file }

        /// Reads the next two seconds; nil at the end.
        ///
        /// - Throws: ``SFSpeechError`` with `audioReadFailed`.
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
                file.ended(source)
                return nil
            } catch { throw SFSpeechError(error, orElse: .audioReadFailed) }
        }

        private mutating func input(_ samples: [Int16]) -> AnalyzerInput {
            defer { (missing, start) = (0, nil) }
            return AnalyzerInput(buffer: AudioBuffer(int16: samples), missing: missing, before: start)
        }
    }
}
