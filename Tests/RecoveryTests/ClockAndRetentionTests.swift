import Testing
import TestKit

@testable import Core
@testable import Maintenance
@testable import Settings
@testable import System

@Suite("Clock correction") struct ClockCorrectionTests {
    @Test("A start's date is computed from the time since boot; a start in the future gets no date")
    func dates() {
        let dates = ClockCorrection.dates(
            of: [
                BootedStart(recording: 1, nanoseconds: 5_000_000_000), BootedStart(recording: 2, nanoseconds: 0),
                BootedStart(recording: 3, nanoseconds: 65_000_000_001),
                BootedStart(recording: 4, nanoseconds: .min), BootedStart(recording: 5, nanoseconds: .max),
            ], wallSeconds: 1_800_000_000, bootNanoseconds: 65_000_000_000)
        #expect(dates[1] == 1_799_999_940 && dates[2] == 1_799_999_935)
        // Recordings 3 and 5 start in the future, as if their rows were damaged.
        #expect(dates.keys.sorted() == [1, 2, 4])
    }

    @Test("Only unverified recordings from this boot get a new date; rebuilding the archive keeps it")
    func archive() async throws {
        let storage = Storage()
        func correctDates() async throws {
            let archive = try storage.archive()
            for clock in [RecordingSummary.Clock.unverified, .synchronized] {
                try await storage.addRecording(clock, in: archive)
            }
            #expect(try await ClockCorrection.apply(to: archive, boot: "another", isSynchronized: true) == [])
            #expect(try await ClockCorrection.apply(to: archive, isSynchronized: false) == [])
            #expect(try await ClockCorrection.apply(to: archive, isSynchronized: true) == [1])
            #expect(try await ClockCorrection.apply(to: archive, isSynchronized: true) == [])
            try check(try await archive.recordings())
        }
        func check(_ recordings: [RecordingSummary]) throws {
            #expect(recordings.map(\.clock) == [.synchronized, .synchronized])
            let now = MonotonicClock.wallSeconds
            // wait: the test takes less than an hour
            #expect(recordings[0].startedAt > now - 3600 && recordings[0].startedAt <= now)
            #expect(recordings[1].startedAt == 1000)
        }
        try await correctDates()
        try change(storage.configuration.archivePath) { bytes in bytes = [1, 2, 3] }
        #expect(try await storage.recover().contains { $0.outcome == .repaired })
        try check(try await storage.archive().recordings())
    }
}

extension Storage {
    /// Adds a recording that began in 1970 according to its clock.
    fileprivate func addRecording(_ clock: RecordingSummary.Clock, in archive: some Archive) async throws {
        let id = try await archive.beginRecording(startedAt: 1000, clock: clock, microphone: "")
        try await archive.endRecording(id, length: SamplePosition(16_000), reason: .button)
    }
}

@Suite("Erasing after a number of days") struct RetentionTests {
    private static let now = 1_800_000_000.0

    enum Case: String, CaseIterable, Sendable {
        case fine, never, young, unverified, behind, incompletePass, noPass, notExported, olderPassExported,
            audioOnlyExported, exportedWhileRecording, exportedInTheFuture
    }

    /// Returns a recording of 10 s, 31 days old, that may be erased after 30 days unless `kind` prevents it.
    private func candidate(_ kind: Case) -> Retention.Candidate {
        let start = Self.now - 31 * 86_400
        var recording = RecordingSummary(
            id: 7, startedAt: start, clock: .synchronized, microphone: "", length: SamplePosition(160_000),
            transcribedUpTo: SamplePosition(160_000), stopReason: .button)
        var pass: PassSummary? = PassSummary(
            id: 3, recording: 7, engine: engine, profile: "live", isComplete: true, lastSegment: 1,
            committedUpTo: SamplePosition(1000))
        var entry = ExportEntry(
            recording: 7, pass: 3, volume: "stick", folder: "000007", manifest: "", exportedAt: start + 60)
        switch kind {
        case .fine, .never, .notExported: break
        case .young: recording.startedAt = Self.now - 30 * 86_400 - 5
        case .unverified: recording.clock = .unverified
        case .behind: recording.transcribedUpTo = SamplePosition(159_999)
        case .incompletePass: pass?.isComplete = false
        case .noPass: pass = nil
        case .olderPassExported: entry.pass = 2
        case .audioOnlyExported: entry.pass = nil
        case .exportedWhileRecording: entry.exportedAt = start + 9
        case .exportedInTheFuture: entry.exportedAt = Self.now + 1
        }
        return Retention.Candidate(
            recording: recording, shownPass: pass, exports: kind == .notExported ? [] : [entry])
    }

    @Test("A recording is erased only if it meets every condition", arguments: Case.allCases)
    func decision(kind: Case) {
        let rule = kind == .never ? Configuration.AfterExport.keep : .eraseAfterDays(30)
        let expired = Retention(rule).expired([candidate(kind)], now: Self.now)
        #expect(expired == (kind == .fine ? [7] : []))
    }

    @Test("With immediate erasure, all conditions apply except those about time", arguments: Case.allCases)
    func immediately(kind: Case) {
        let expired = Retention(kind == .never ? .keep : .erase).expired([candidate(kind)], now: Self.now)
        let erasable: [Case] = [.fine, .young, .unverified, .exportedWhileRecording, .exportedInTheFuture]
        #expect(expired == (erasable.contains(kind) ? [7] : []))
    }

    @Test(
        "For an added file, the days are counted from its export, although the file is older",
        arguments: ["added: a.m4a", "added"])
    func added(source: String) {
        var candidate = candidate(.fine)
        candidate.recording.microphone = source
        candidate.exports[0].exportedAt = Self.now - 29 * 86_400
        #expect(Retention(.eraseAfterDays(30)).expired([candidate], now: Self.now) == [])
        candidate.exports[0].exportedAt = Self.now - 30 * 86_400
        #expect(Retention(.eraseAfterDays(30)).expired([candidate], now: Self.now) == [7])
    }

    @Test("A sealed recording is erased only if its sealed file was copied")
    func sealed() {
        func manifest(_ content: Character) -> SealedManifest {
            func digest(_ letter: Character) -> String { String(repeating: letter, count: 64) }
            return SealedManifest(
                file: digest("1"), bytes: 9, head: digest("2"), plain: digest("3"), content: digest(content),
                recipients: digest("5"))
        }
        var candidate = candidate(.fine)
        candidate.recording.seal = manifest("a").text
        candidate.shownPass = nil
        for rule in [Configuration.AfterExport.erase, .eraseAfterDays(30)] {
            #expect(Retention(rule).expired([candidate], now: Self.now) == [])
            for (content, expected) in [(Character("b"), []), ("a", [7])] {
                var copiedCandidate = candidate
                copiedCandidate.exports[0].pass = nil
                copiedCandidate.exports[0].manifest = manifest(content).text
                #expect(Retention(rule).expired([copiedCandidate], now: Self.now) == expected)
            }
        }
    }

    @Test("Recordings are erased after a number of days only while the clock is set")
    func applied() async throws {
        let storage = Storage()
        let archive = try storage.archive()
        for _ in 1...2 {
            let id = try await storage.record([.samples(numbered(4000))], words: ["text"], in: archive)
            try await archive.redate(recording: id, startedAt: 1000)
        }
        let pass = try #require(try await archive.shownPass(of: 1))
        try await archive.add(
            ExportEntry(
                recording: 1, pass: pass.id, volume: "stick", folder: "000001",
                manifest: String(repeating: "0", count: 64), exportedAt: 2000))
        let retention = Retention(.eraseAfterDays(1))
        let path = storage.folder.path
        #expect(
            try await retention.apply(to: archive, storage: path, isSynchronized: false, now: 1_000_000).erased == [])
        #expect(
            try await retention.apply(to: archive, storage: path, isSynchronized: true, now: 1_000_000).erased
                == [1])
        #expect(try await archive.recordings().map(\.id) == [2])
        // Immediate erasure works even while the clock is not set; recordings without a copy stay.
        try await storage.record([.samples(numbered(4000))], words: ["text"], in: archive)
        let newestPass = try #require(try await archive.shownPass(of: 3))
        try await archive.add(
            ExportEntry(
                recording: 3, pass: newestPass.id, volume: "stick", folder: "000003",
                manifest: String(repeating: "0", count: 64), exportedAt: 2000))
        let immediate = Retention(.erase)
        #expect(try await immediate.apply(to: archive, storage: path, isSynchronized: false).erased == [3])
        #expect(try await archive.recordings().map(\.id) == [2])
    }
}
