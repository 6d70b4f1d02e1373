import Glibc

@testable import Archive
@testable import Core
@testable import Transcripts

/// Fuzzes a recording's journal, with and without valid checksums. Valid lines are restored into an archive and
/// rendered.
@_cdecl("LLVMFuzzerTestOneInput") public func fuzz(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
    let bytes = UnsafeBufferPointer(start: data, count: size)
    check(Journal.entries(in: bytes).entries)
    var withChecksums: [UInt8] = []
    for line in bytes.split(separator: 0x0A) {
        withChecksums += Array(CRC32.text(of: line).utf8) + [0x20] + line + [0x0A]
    }
    let (entries, damaged) = Journal.entries(in: withChecksums)
    precondition(damaged == 0)
    check(entries)
    // A journal without a known entry restores nothing.
    if !entries.isEmpty { restore(withChecksums) }
    return 0
}

private func check(_ entries: [JournalEntry]) {
    for pass in JournalRecord(entries).passes {
        var end = SamplePosition.zero
        for segment in pass.orderedSegments {
            precondition(segment.range.start >= end && segment.range.end >= segment.range.start)
            end = segment.range.end
        }
    }
}

/// An archive on a tmpfs, with an empty folder for one recording.
private let storage = {
    var template = Array("/dev/shm/fieldscribe-journal-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { fatalError("mkdtemp") }
    let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    mkdir("\(path)/recordings", 0o700)
    mkdir("\(path)/recordings/000001", 0o700)
    guard let archive = try? SQLiteArchive(path: "\(path)/archive.sqlite") else { fatalError("archive") }
    return (path: path, archive: archive)
}()

/// Restores a recording from a journal, renders it, and deletes it.
private func restore(_ journal: [UInt8]) {
    let path = "\(storage.path)/recordings/000001/journal.jsonl"
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    precondition(file >= 0 && write(file, journal, journal.count) == journal.count)
    close(file)
    let completion = Semaphore()
    Task.detached {
        do {
            // An error here would make every start fail.
            try await storage.archive.adopt(recording: 1, startedAt: 0)
            guard let (summary, timeline) = try await storage.archive.transcript(of: 1) else { fatalError("lost") }
            precondition(summary.startedAt == summary.startedAt.asWallTime)
            for format in TranscriptFormat.allCases { _ = try format.render(timeline) }
            _ = UncertainWord.worst(20, of: timeline.segments)
            _ = try await storage.archive.journalFindings(of: 1)
            try await storage.archive.delete(recordings: [1])
        } catch { fatalError("\(error)") }
        completion.signal()
    }
    completion.wait()
}

private final class Semaphore: @unchecked Sendable {
    private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    init() { sem_init(semaphore, 0, 0) }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    func signal() { sem_post(semaphore) }

    func wait() { while sem_wait(semaphore) != 0 {} }
}
