import Glibc
import TestKit

@testable import Archive
@testable import Core
@testable import Maintenance
@testable import Settings
@testable import System

/// A suite in which a shell script replaces the program that identifies speakers.
protocol SpeakerSuite {
    var storage: Storage { get }
    var folder: TemporaryFolder { get }
}

extension SpeakerSuite {
    var configuration: Configuration {
        var configuration = storage.configuration
        configuration.recognizer.speakers = .automatic
        configuration.recognizer.speakerModel = folder.path
        return configuration
    }

    /// Creates files that stand for a model, and a shell script that replaces the real program.
    func diarization(_ script: String) throws -> DiarizationProcess {
        for name in ["campplus.ort", "libonnxruntime.so.1"] { try write("none\n", to: folder.file(name)) }
        return DiarizationProcess(program: try folder.program("diarizer", script), configuration)
    }

    func write(_ text: String, to path: String) throws {
        let file = try FileDescriptor(opening: path, O_WRONLY | O_CREAT | O_TRUNC, mode: 0o644)
        try rethrowing { try Array(text.utf8).withUnsafeBytes { try file.write($0) } }
    }

    func archive(recordings: Int = 1) async throws -> SQLiteArchive {
        let archive = try storage.archive()
        for _ in 1...recordings {
            try await storage.record(
                [.samples([Int16](repeating: 5, count: 16_000))], words: ["one", "two", "three"], in: archive)
        }
        return archive
    }

    static var answer: String {
        #"""
        read line
        echo '{}'
        echo '{"speakers":{"turns":[{"range":{"start":0,"end":900},"speaker":0},{"range":{"start":900,"end":2500},"speaker":1}]}}'
        """#
    }
}
