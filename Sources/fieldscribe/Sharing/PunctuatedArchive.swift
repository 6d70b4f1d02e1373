import Core
import Transcripts

/// Adds punctuation to an archive's transcripts on output.
struct PunctuatedArchive: ArchiveReading {
    let archive: any ArchiveReading
    let punctuator: Punctuator

    func recordings() async throws -> [RecordingSummary] { try await archive.recordings() }

    func transcript(of recording: Int) async throws -> (RecordingSummary, Timeline)? {
        try await archive.transcript(of: recording).map { ($0, try punctuator.punctuated($1)) }
    }

    func transcript(of recording: Int, pass: Int) async throws -> (RecordingSummary, Timeline)? {
        try await archive.transcript(of: recording, pass: pass).map { ($0, try punctuator.punctuated($1)) }
    }

    func passes(of recording: Int) async throws -> [PassSummary] { try await archive.passes(of: recording) }

    func shownPass(of recording: Int) async throws -> PassSummary? { try await archive.shownPass(of: recording) }

    func search(_ words: String, limit: Int) async throws -> [SearchHit] {
        try await archive.search(words, limit: limit)
    }

    func history(of recording: Int?) async throws -> [HistoryLine] { try await archive.history(of: recording) }
}
