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

    /// A gate that makes call number `firstFailure` fail, or all calls from then on.
    private final class FaultyGate: Sendable {
        private let calls = Mutex(0)
        let firstFailure: Int
        let fault: Fault

        init(firstFailure: Int, _ fault: Fault) {
            self.firstFailure = firstFailure
            self.fault = fault
        }

        var count: Int { calls.withLock { $0 } }

        func call(_ operation: String, _ path: String) throws(DeviceError) {
            let ordinal = calls.withLock { count in
                count += 1
                return count
            }
            switch fault {
            case .once where ordinal == firstFailure, .pulled where ordinal >= firstFailure:
                throw .system(operation, status: EIO, on: path)
            case .full where ordinal >= firstFailure && ["write", "open", "mkdir", "fsync"].contains(operation):
                throw .system(operation, status: ENOSPC, on: path)
            default: break
            }
        }
    }

    @Test(
        "after a fault in any call, no incomplete copy has a final name, and the next copy completes the rest",
        arguments: Fault.allCases)
    func everyCall(fault: Fault) async throws {
        // Two recordings, so that the run continues after a single fault.
        let count = fault == .once ? 2 : 1
        let clean = try await Setup(recordings: count, seconds: 2)
        let counter = FaultyGate(firstFailure: .max, fault)
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
            let faulty = FaultyGate(firstFailure: call, fault)
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
            #expect(second.error == nil && second.copied.count + second.keptCopies.count == count, "call \(call)")
            #expect(
                areComplete(exportFolder) && names(exportFolder) == (1...count).map(Setup.name),
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
        let setup = try await Setup()
        await setup.ledger.failOnce(DeviceError(.full, "INSERT", "archive: full"))
        #expect(try await setup.copy().error?.code == .full)
        #expect(setup.copies == [Setup.name(1)])
        #expect(try await setup.copy().keptCopies.map(\.recording) == [1])
        #expect(await setup.ledger.entries.count == 1 && setup.copies == [Setup.name(1)])
    }

    @Test("data that differs when read back is not reported as a copy", arguments: ["audio.flac", "transcript.json"])
    func corruptingStick(file: String) async throws {
        let setup = try await Setup(seconds: 5)
        let path = "\(setup.exportFolder)/partial/\(file)"
        let report = try await setup.export { operation, _ throws(DeviceError) in
            guard operation == "syncfs", access(path, F_OK) == 0 else { return }
            shell("printf 'x' | dd of='\(path)' bs=1 seek=$(($(stat -c %s '\(path)') / 2)) conv=notrunc")
        }.copy(to: setup.stick)
        #expect(report.error?.code == .damaged, "\(String(describing: report.error))")
        #expect(names(setup.exportFolder).isEmpty)
        #expect(await setup.ledger.entries.isEmpty)
        #expect(try await setup.copy().copied.count == 1)
    }

    @Test("a stopped copy leaves nothing incomplete")
    func stoppedCopy() async throws {
        let setup = try await Setup(recordings: 2, seconds: 5)
        let stops = try await setup.stopEverywhere {
            #expect(setup.hasIntactCopies() && setup.copies == names(setup.exportFolder))
        }
        #expect(stops > 15)
        #expect(setup.copies.count == 2)
    }

    @Test("a second copy to the same stick is refused while the first is running")
    func concurrentCopy() async throws {
        let setup = try await Setup()
        let other = try await Setup(recordings: 1, stick: setup.stick)
        let lockError = Mutex<DeviceError?>(nil)
        let started = Mutex(false)
        let report = try await setup.export { operation, path throws(DeviceError) in
            guard operation == "rename",
                started.withLock({ started in
                    defer { started = true }
                    return !started
                })
            else { return }
            // Tries in another process, as a second copy would.
            let status = shell("flock -n '\(setup.stick)/Fieldscribe' true").status
            if status != 0 { lockError.withLock { $0 = DeviceError(.busy, "flock", "held") } }
        }.copy(to: setup.stick)
        #expect(report.error == nil && lockError.withLock { $0 } != nil)
        let lock = try Folder(opening: "\(setup.stick)/Fieldscribe")
        try lock.lock()
        let error = await thrown { try await other.copy() }
        #expect(error?.code == .busy)
        withExtendedLifetime(lock) {}
    }
}
