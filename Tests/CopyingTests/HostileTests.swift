import Glibc
import Testing
import TestKit

@testable import Copying
@testable import Core
@testable import System

@Suite("A malformed or hostile stick", .serialized) struct HostileTests {
    @Test(
        "links are not followed, and foreign files stay",
        arguments: [
            "ln -s '$OUT' Fieldscribe", "mkdir Fieldscribe; ln -s '$OUT' Fieldscribe/recorder",
            "mkdir -p Fieldscribe/recorder; ln -s '$OUT' Fieldscribe/recorder/partial",
            "mkdir -p Fieldscribe/recorder/partial; ln -s '$OUT/secret' Fieldscribe/recorder/partial/audio.flac",
            "mkdir -p Fieldscribe/recorder/partial/audio.flac; touch Fieldscribe/recorder/partial/audio.flac/mine",
            "mkdir -p Fieldscribe/recorder; ln -s '$OUT' Fieldscribe/recorder/$NAME",
            "mkdir -p Fieldscribe/recorder; mkfifo Fieldscribe/recorder/$NAME",
            "mkdir -p Fieldscribe/recorder/$NAME; mkfifo Fieldscribe/recorder/$NAME/SHA256SUMS",
            "mkdir -p Fieldscribe/recorder/$NAME; ln -s '$OUT/secret' Fieldscribe/recorder/$NAME/SHA256SUMS",
            "mkdir -p Fieldscribe/recorder; echo mine > Fieldscribe/recorder/$NAME",
            "mkdir -p Fieldscribe; ln -s '$OUT/secret' Fieldscribe/index.html",
            "mkdir -p Fieldscribe; ln -s '$OUT/secret' Fieldscribe/index.html.new",
            "mkdir -p Fieldscribe; ln -s '$OUT/secret' Fieldscribe/RESULT.txt", "echo mine > Fieldscribe",
            "mkdir -p Fieldscribe; mkfifo Fieldscribe/recorder", "mkdir -p Fieldscribe/index.html/deep",
            "mkdir -p Fieldscribe/recorder; for i in '' -2 -3 -4 -5 -6 -7 -8 -9; do mkdir Fieldscribe/recorder/partial$i; "
                + "touch Fieldscribe/recorder/partial$i/mine; done",
        ])
    func obstacles(preparation: String) async throws {
        let setup = try await Setup()
        let outside = setup.folder.file("outside")
        shell("mkdir '\(outside)'; echo secret > '\(outside)/secret'; touch -d 2001-01-01 '\(outside)/secret'")
        let commands = preparation.replacing("'$OUT'", with: "'\(outside)'").replacing("$OUT", with: outside)
            .replacing("$NAME", with: Setup.name(1))
        #expect(shell("cd '\(setup.stick)' && \(commands)").status == 0)
        let mine = shell("cd '\(setup.stick)' && find . -name 'mine' -o -type p | sort").output
        let before = shell("ls -la --full-time '\(outside)'; cat '\(outside)/secret'").output
        var report: CopyReport?
        let error = await thrown { report = try await setup.copy() }
        #expect(shell("ls -la --full-time '\(outside)'; cat '\(outside)/secret'").output == before)
        #expect(shell("cd '\(setup.stick)' && find . -name 'mine' -o -type p | sort").output == mine)
        // Either the copy was written beside the obstacle, or the error says why not.
        if let copied = report?.copied.first {
            #expect(shell("cd '\(setup.stick)/Fieldscribe/\(copied.folder)' && sha256sum -c SHA256SUMS").status == 0)
            #expect(error == nil)
        } else {
            let failure = try #require(error ?? report?.error)
            #expect(failure.message.contains("; "), "no remedy in: \(failure.message)")
            #expect(await setup.ledger.entries.isEmpty)
        }
    }

    @Test("on a small stick, recordings that fit are copied, and the others are reported", .enabled(if: canMount))
    func smallStick() async throws {
        let stick = TemporaryFolder()
        #expect(mount("tmpfs", stick.path, "tmpfs", 0, "size=3m") == 0)
        defer { umount(stick.path) }
        let setup = try await Setup(recordings: 1, seconds: 10, stick: stick.path)
        try await setup.record(2, seconds: 300)
        try await setup.record(3, seconds: 1)
        let report = try await setup.copy()
        #expect(report.copied.map(\.recording) == [1, 3])
        #expect(report.failures.map(\.recording) == [2] && report.error?.code == .full)
        #expect(report.error?.message.contains("needs about") == true)
        #expect(setup.hasIntactCopies())
    }

    @Test("a stick that fills up keeps no incomplete copy", .enabled(if: canMount))
    func fillingStick() async throws {
        let stick = TemporaryFolder()
        #expect(mount("tmpfs", stick.path, "tmpfs", 0, "size=4m") == 0)
        defer { umount(stick.path) }
        let setup = try await Setup(recordings: 1, seconds: 60, stick: stick.path)
        // Another program fills the stick during the copy.
        let report = try await setup.export { operation, _ throws(DeviceError) in
            if operation == "write" { shell("head -c 4M /dev/zero > '\(stick.path)/mine' 2>/dev/null") }
        }.copy(to: stick.path)
        #expect(report.error?.code == .full)
        #expect(names(setup.exportFolder).isEmpty && names(stick.path).contains("mine"))
        shell("rm '\(stick.path)/mine'")
        #expect(try await setup.copy().copied.count == 1)
    }

    @Test("a read-only stick is refused with an explanation", .enabled(if: canMount))
    func readOnlyStick() async throws {
        let stick = TemporaryFolder()
        #expect(mount("tmpfs", stick.path, "tmpfs", UInt(MS_RDONLY), "size=1m") == 0)
        defer { umount(stick.path) }
        let setup = try await Setup(stick: stick.path)
        let error = await thrown { try await setup.copy() }
        #expect(error?.code == .denied && error?.message.contains("read-only") == true)
    }

    @Test("another file system mounted in the stick is not written to", .enabled(if: canMount))
    func mountedFolder() async throws {
        let setup = try await Setup()
        shell("mkdir -p '\(setup.exportFolder)'")
        #expect(mount("tmpfs", setup.exportFolder, "tmpfs", 0, "size=1m") == 0)
        defer { umount(setup.exportFolder) }
        let error = await thrown { try await setup.copy() }
        #expect(error?.code == .denied && names(setup.exportFolder).isEmpty)
    }

    @Test("a target that does not exist is reported as missing")
    func missingTarget() async throws {
        let setup = try await Setup()
        let error = await thrown { _ = try await setup.export().copy(to: setup.folder.file("none")) }
        #expect(error?.code == .missing)
    }
}

/// Whether this process may mount file systems.
private let canMount: Bool = {
    let folder = TemporaryFolder()
    guard mount("tmpfs", folder.path, "tmpfs", 0, "size=64k") == 0 else { return false }
    return umount(folder.path) == 0
}()
