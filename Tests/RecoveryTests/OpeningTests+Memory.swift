import FoundationEssentials
import Glibc
import Synchronization
import Testing
import TestKit

@testable import Archive
@testable import Copying
@testable import Core
@testable import Maintenance
@testable import Settings
@testable import System

extension OpeningTests {
    @Test("if the machine has too little free memory, nothing is opened, even if the tmpfs has space")
    func littleMemory() async throws {
        let archive = try storage.archive()
        try await seal(["zanzibar"], in: archive)
        let key = try DecryptionKey(text(), named: "key.txt")
        let row = try #require(try await archive.recordings().first)
        let manifest = try #require(row.seal.flatMap { SealedManifest($0) })
        let (source, target) = (try Folder(opening: folder()), try Folder(opening: memoryFolder.path))
        let lowMemoryDecryptor = try RecordingDecryptor(source, manifest, key: key, memory: { 5_000_000 }) { true }
        let journalError = thrown { try lowMemoryDecryptor.writeJournal(into: target) }
        let audioError = thrown { try lowMemoryDecryptor.writeAudio(SamplePosition(40_000_000), .ended, into: target) }
        for error in [journalError, audioError] {
            let message = error?.message ?? "nothing was thrown"
            #expect(error?.code == .full, "\(message)")
            #expect(
                message.contains("MB of memory, but only 5 MB of this machine's memory are free; open it on a laptop"),
                "\(message)")
        }
        #expect(try paths(containing: "zanzibar", below: memoryFolder.path) == "")
        for free in [nil, 1 << 40] as [Int64?] {
            let name = "open-\(free ?? 0)"
            try target.makeFolder(name)
            let decryptor = try RecordingDecryptor(source, manifest, key: key, memory: { free }) { true }
            try decryptor.writeJournal(into: target.folder(name))
            #expect(try paths(containing: "zanzibar", below: "\(memoryFolder.path)/\(name)") == "./journal.jsonl\n")
        }
    }

    @Test(
        "with too little memory, only the latest recordings are opened, and open recordings stay open",
        .enabled(if: canMount))
    func fullMemory() async throws {
        let archive = try storage.archive()
        // Each transcript has 0.2 MB.
        for word in ["zanzibar", "mombasa", "pemba"] {
            let longWords = (1...4).map { "\(word)\($0)" + String(repeating: "x", count: 50_000) }
            try await storage.record([.samples(numbered(20_000))], words: [word] + longWords, in: archive)
        }
        // Skips the other formats, which take minutes on an emulated board.
        var configuration = configuration()
        configuration.export.formats = [.json]
        #expect(try await SealingJob(configuration, archive: archive).run().isEmpty)
        let mountPoint = TemporaryFolder()
        var outcomes: [[Int]] = []
        for kilobytes in [9_000, 11_500, 20_000] {
            #expect(mount("tmpfs", mountPoint.path, "tmpfs", 0, "size=\(kilobytes)k") == 0)
            defer { umount2(mountPoint.path, Int32(MNT_DETACH)) }
            let opening = makeOpening(archive, in: [mountPoint.path])
            do {
                let messages = try await opening.open(text(), named: "key.txt")
                let opened = try #require(opening.state?.recordings)
                outcomes.append(opened)
                // Only the latest recordings are open.
                #expect(opened == Array((4 - opened.count)...3))
                #expect(Set(try await opening.search("pemba", limit: 9).map(\.recording)) == [3])
                #expect(try await opening.search("zanzibar", limit: 9).isEmpty == (opened.count < 3))
                #expect(messages.count == (opened.count == 3 ? 1 : 2), "\(messages)")
                if opened.count < 3 {
                    let stillSealed = opened.count == 1 ? "recording 2, like the older one," : "recording 1"
                    #expect(
                        messages.last?.hasPrefix("\(stillSealed) stays sealed: \(mountPoint.path): ") == true,
                        "\(messages)")
                    #expect(messages.last?.contains("opening this recording needs") == true)
                    #expect(messages.last?.contains("; open it on a laptop") == true)
                }
                // The recordings stay open if there is too little space to open them again.
                let freeBytes = try Folder(opening: mountPoint.path).freeBytes()
                try shell("head -c \(freeBytes - 65_536) /dev/zero > '\(mountPoint.path)/mine'")
                let error = await thrown { _ = try await opening.open(text(), named: "key.txt") }
                #expect(error?.code == .full && opening.state?.recordings == opened, "\(error?.message ?? "")")
                #expect(Set(try await opening.search("pemba", limit: 9).map(\.recording)) == [3])
                #expect(await opening.lock())
                #expect(try FileManager.default.contentsOfDirectory(atPath: mountPoint.path) == ["mine"])
            } catch let error as DeviceError {
                outcomes.append([])
                #expect(error.code == .full && error.message.hasPrefix("\(mountPoint.path): "), "\(error.message)")
                #expect(error.message.contains("MB are free; open it on a laptop"), "\(error.message)")
                #expect(opening.state == nil)
                #expect(try FileManager.default.contentsOfDirectory(atPath: mountPoint.path) == [])
            }
        }
        let counts = outcomes.map(\.count)
        #expect(counts.first == 0 && counts.contains { 1...2 ~= $0 } && counts.last == 3, "\(counts)")
        // With 64 kB, there is not even enough space for a database.
        #expect(mount("tmpfs", mountPoint.path, "tmpfs", 0, "size=64k") == 0)
        defer { umount2(mountPoint.path, Int32(MNT_DETACH)) }
        let error = await thrown {
            _ = try await makeOpening(archive, in: [mountPoint.path]).open(text(), named: "key.txt")
        }
        #expect(
            error?.message.hasPrefix("\(mountPoint.path): this file system in memory is full; ") == true,
            "\(error?.message ?? "")")
        #expect(try FileManager.default.contentsOfDirectory(atPath: mountPoint.path) == [])
    }

    @Test("two dozen recordings are opened one after the other, so few descriptors are open at a time")
    func twoDozen() async throws {
        let archive = try storage.archive()
        try await seal((1...24).map { "word\($0)" }, in: archive)
        let opening = makeOpening(archive)
        let paths = [storage.folder.path, memoryFolder.path]
        let maximum = Mutex(0)
        let sampling = Task.detached {
            while !Task.isCancelled {
                let count = Self.descriptorCount(below: paths)
                maximum.withLock { $0 = max($0, count) }
                usleep(500)  // wait: the interval between two samples; a slow machine only samples less often
            }
        }
        let before = Self.descriptorCount(below: paths)
        let messages = try await opening.open(text(), named: "key.txt")
        sampling.cancel()
        await sampling.value
        #expect(messages == ["24 recordings are open for an hour, or until fieldscribe lock"])
        #expect(try await opening.search("word17", limit: 9).map(\.recording) == [17])
        #expect(try await opening.search("kaduna", limit: 200).count == 24)
        #expect(maximum.withLock { $0 } - before < 20, "\(maximum.withLock { $0 }) descriptors, \(before) before")
        #expect(await opening.lock())
        #expect(Self.descriptorCount(below: paths) == before)
        #expect(try filesInMemory() == [])
        #expect(try await archive.historyFindings().isEmpty)
    }

    /// Returns the number of this process's descriptors for files below the paths.
    private static func descriptorCount(below paths: [String]) -> Int {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return names.count { name in
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
            return paths.contains { target?.hasPrefix($0) == true }
        }
    }
}
