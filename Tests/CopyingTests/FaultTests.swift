import Glibc
import Synchronization
import Testing
import TestKit

@testable import Copying
@testable import Core
@testable import System

/// Makes each call that changes the stick fail in turn.
@Suite("A stick that fails", .serialized) struct FaultTests {
    enum Fault: String, CaseIterable, Sendable {
        /// One call fails.
        case once
        /// All later calls fail: the stick was pulled, or power was lost.
        case pulled
        /// All later calls that need space fail.
        case full
    }

    /// A gate that makes call number `at`, or all calls from then on, fail with `fault`.
    private final class FaultyGate: Sendable {
        private let calls = Mutex(0)
        let at: Int
        let fault: Fault

        init(at: Int, _ fault: Fault) {
            self.at = at
            self.fault = fault
        }

        var count: Int { calls.withLock { $0 } }

        func call(_ operation: String, _ path: String) throws(DeviceError) {
            let number = calls.withLock { count in
                count += 1
                return count
            }
            switch fault {
            case .once where number == at, .pulled where number >= at:
                throw .system(operation, status: EIO, on: path)
            case .full where number >= at && ["write", "open", "mkdir", "fsync"].contains(operation):
                throw .system(operation, status: ENOSPC, on: path)
            default: break
            }
        }
    }

    @Test(
        "after a fault in any call, no incomplete copy has a final name, and the next copy completes the rest",
        arguments: Fault.allCases)
    func everyCall(fault: Fault) async throws {
        // With two recordings, the second must succeed.
        let count = fault == .once ? 2 : 1
        let clean = try await Desk(recordings: count, seconds: 2)
        let counter = FaultyGate(at: .max, fault)
        let faultless = try await clean.export(gate: counter.call).copy(to: clean.stick)
        #expect(faultless.error == nil && counter.count > 40)
        var failed = 0
        for call in 1...counter.count {
            let stick = clean.folder.file("stick-\(call)")
            try makeFolder(stick)
            defer { shell("rm -rf '\(stick)'") }
            let ledger = MemoryLedger()
            var export = FolderExport(
                archive: clean.archive, ledger: ledger, settings: clean.export().settings,
                audioPath: { clean.audioPath($0) })
            let faulty = FaultyGate(at: call, fault)
            export.gate = faulty.call
            var report: CopyReport?
            let error = await thrown { report = try await export.copy(to: stick) }
            if error != nil || report?.error != nil { failed += 1 }
            let exportFolder = "\(stick)/Fieldscribe/recorder"
            #expect(areComplete(exportFolder), "call \(call)")
            // Reported copies exist.
            for copy in report?.copied ?? [] { #expect(names(exportFolder).contains(String(copy.folder.dropFirst(9)))) }
            for entry in await ledger.entries {
                #expect(names(exportFolder).contains(String(entry.folder.dropFirst(9))))
            }

            export.gate = { _, _ in }
            let second = try await export.copy(to: stick)
            #expect(second.error == nil && second.copied.count + second.kept.count == count, "call \(call)")
            #expect(
                areComplete(exportFolder) && names(exportFolder) == (1...count).map(Desk.name),
                "call \(call): \(names(exportFolder))")
            #expect(names("\(stick)/Fieldscribe").count == 3)
            #expect(await ledger.entries.count == count)
        }
        #expect(failed >= counter.count * 3 / 4)
        print(
            "\(fault.rawValue): \(counter.count) calls failed in turn; \(failed) copies reported an error"
        )
    }

    private func areComplete(_ exportFolder: String) -> Bool {
        names(exportFolder).filter { !$0.hasPrefix("partial") }.allSatisfy {
            shell("cd '\(exportFolder)/\($0)' && sha256sum --quiet -c SHA256SUMS && [ $(ls | wc -l) = 12 ]").status == 0
        }
    }

    @Test("a copy that the ledger failed to list is recognized instead of copied again")
    func ledgerFails() async throws {
        let desk = try await Desk()
        await desk.ledger.failOnce(DeviceError(.full, "INSERT", "archive: full"))
        #expect(try await desk.copy().error?.code == .full)
        #expect(desk.copies == [Desk.name(1)])
        #expect(try await desk.copy().kept.map(\.recording) == [1])
        #expect(await desk.ledger.entries.count == 1 && desk.copies == [Desk.name(1)])
    }

    @Test("data that differs when read back is not reported as a copy", arguments: ["audio.flac", "transcript.json"])
    func lyingStick(file: String) async throws {
        let desk = try await Desk(seconds: 5)
        let path = "\(desk.exportFolder)/partial/\(file)"
        let report = try await desk.export { operation, _ throws(DeviceError) in
            guard operation == "syncfs", access(path, F_OK) == 0 else { return }
            shell("printf 'x' | dd of='\(path)' bs=1 seek=$(($(stat -c %s '\(path)') / 2)) conv=notrunc")
        }.copy(to: desk.stick)
        #expect(report.error?.code == .damaged, "\(String(describing: report.error))")
        #expect(names(desk.exportFolder).isEmpty)
        #expect(await desk.ledger.entries.isEmpty)
        #expect(try await desk.copy().copied.count == 1)
    }

    @Test("a stopped copy leaves nothing incomplete")
    func stopped() async throws {
        let desk = try await Desk(recordings: 2, seconds: 5)
        let stops = try await desk.stopEverywhere {
            #expect(desk.areWhole() && desk.copies == names(desk.exportFolder))
        }
        #expect(stops > 15)
        #expect(desk.copies.count == 2)
    }

    @Test("a second copy to the same stick is refused while the first is running")
    func busy() async throws {
        let desk = try await Desk()
        let other = try await Desk(recordings: 1, stick: desk.stick)
        let lockError = Mutex<DeviceError?>(nil)
        let started = Mutex(false)
        let report = try await desk.export { operation, path throws(DeviceError) in
            guard operation == "rename",
                started.withLock({ started in
                    defer { started = true }
                    return !started
                })
            else { return }
            // Another process must try, because flock(2) locks belong to the open file.
            let status = shell("flock -n '\(desk.stick)/Fieldscribe' true").status
            if status != 0 { lockError.withLock { $0 = DeviceError(.busy, "flock", "held") } }
        }.copy(to: desk.stick)
        #expect(report.error == nil && lockError.withLock { $0 } != nil)
        let lock = try Folder(opening: "\(desk.stick)/Fieldscribe")
        try lock.lock()
        let error = await thrown { try await other.copy() }
        #expect(error?.code == .busy)
        withExtendedLifetime(lock) {}
    }
}
