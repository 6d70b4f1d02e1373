import FoundationEssentials
import Glibc
import TestKit

@testable import Archive
@testable import Audio
@testable import Core
@testable import Maintenance
@testable import Settings

let engine = EngineDescription(name: "fake", version: "1", model: "plain")

/// A sink that ignores all events.
private struct NullSink: RecordingSink {}

extension [StorageFinding] {
    /// The findings except notes. A note says, for example, what the audio was compared with.
    var problems: [StorageFinding] { filter { $0.outcome != .note } }
}

/// A temporary storage directory for one test.
struct Storage {
    let folder: TemporaryFolder

    init(_ folder: TemporaryFolder = TemporaryFolder()) { self.folder = folder }

    var configuration: Configuration {
        var configuration = Configuration()
        configuration.storage.directory = folder.path
        return configuration
    }

    func audio(_ id: Int) -> String { RecordingFolder(storage: folder.path, recording: id).audio }

    func archive() throws -> SQLiteArchive { try SQLiteArchive(path: configuration.archivePath) }

    /// Recovers the archive, closes it, and returns the findings.
    @discardableResult
    func recover(_ depth: Recovery.Depth = .everything) async throws -> [StorageFinding] {
        try await Recovery.open(configuration, depth: depth).findings
    }

    /// Makes a recording with a transcript of `words`, one per segment, and returns its ID.
    ///
    /// - Parameter isClosed: if false, the recording looks as if a power cut had ended it.
    @discardableResult
    func record(
        _ microphone: [ScriptedMicrophone.Step], channels: Int = 1, words: [String] = [], isClosed: Bool = true,
        in archive: SQLiteArchive
    ) async throws -> Int {
        let id = try await archive.beginRecording(startedAt: 1000, clock: .unverified, microphone: "scripted:")
        let session = RecordingSession(microphone: ScriptedMicrophone(channels: channels, microphone + [.ended]))
        let result = try await session.record(to: audio(id), sink: NullSink())
        for gap in result.gaps { try await archive.add(gap, recording: id) }
        if isClosed {
            try await archive.endRecording(id, length: result.length, reason: result.reason)
        } else {
            try resetHeader(audio(id))
        }
        guard !words.isEmpty else { return id }
        let pass = try await archive.beginPass(recording: id, engine: engine, profile: "live")
        for (index, word) in words.enumerated() {
            try await archive.commit(segment(index + 1, word), pass: pass, recording: id)
        }
        if isClosed {
            try await archive.markTranscribed(upTo: result.length, recording: id)
            try await archive.endPass(pass, recording: id)
        }
        return id
    }

    /// Resets the header to what the recorder writes first, as if it had been killed before it updated the header.
    private func resetHeader(_ path: String) throws {
        try change(path) { bytes in
            bytes.replaceSubrange(112..<144, with: Array("cut short".utf8) + [UInt8](repeating: 0, count: 23))
            bytes.replaceSubrange(4..<8, with: [0xF8, 0x01, 0, 0])
            bytes.replaceSubrange(508..<512, with: [0, 0, 0, 0])
        }
    }
}

/// Returns a segment with one word, 500 samples long. Segments with consecutive IDs start 1,000 samples apart.
func segment(_ id: Int, _ word: String) -> Segment {
    let start = SamplePosition(Int64(id - 1) * 1000)
    let range = SampleRange(start, start + 500)
    return Segment(
        id: id, range: range, words: [Word(word, range, confidence: 0.5)],
        alternatives: [Alternative(text: "\(word)s", confidence: 0.25)], endedBy: .silence)
}

func bytes(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: path))) }

func change(_ path: String, _ body: (inout [UInt8]) throws -> Void) throws {
    var bytes = try bytes(path)
    try body(&bytes)
    try Data(bytes).write(to: URL(filePath: path))
}

func samples(of path: String) throws -> [Int16] {
    let reader = try RecordingReader(path: path)
    let length = Int(try reader.length.samples)
    return try [Int16](unsafeUninitializedCapacity: length) { buffer, count in
        count = try reader.read(at: .zero, into: UnsafeMutableBufferPointer(rebasing: buffer[..<length]))
    }
}

/// Runs a shell command and returns its output.
@discardableResult
func shell(_ command: String) throws -> String {
    guard let stream = popen(command, "r") else { throw DeviceError.system("popen", on: command) }
    defer { pclose(stream) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while case let count = fread(&buffer, 1, buffer.count, stream), count > 0 { bytes += buffer[..<count] }
    return String(decoding: bytes, as: UTF8.self)
}
