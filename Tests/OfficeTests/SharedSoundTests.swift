import Glibc
import Testing
import TestKit

@testable import Core
@testable import Office
@testable import System

@Suite("Shared sound files") struct SharedSoundTests {
    init() { signal(SIGPIPE, SIG_IGN) }

    /// Copies one recording to two sticks. The copy on the second stick has another history entry.
    private func fillSticks(_ desk: OfficeDesk) async throws {
        let recorder = FieldRecorder("pi", identity: FieldRecorder.identity("a"))
        await recorder.record(1, "we planted fonio")
        let first = try await recorder.addEntry(1, "recorded")
        try await recorder.copy(to: desk.stick("one"))
        try await recorder.addEntry(2, "copied", before: first)
        try await recorder.copy(to: desk.stick("two"))
    }

    /// Returns the number of different sound files (inodes) in the archive's copies.
    private func soundFileCount(_ desk: OfficeDesk) -> Int {
        shell("stat -c %i '\(desk.archivePath)'/*/*/audio.flac | sort -u").output.split(separator: "\n").count
    }

    @Test(
        "a recording gathered from two sticks, in one run or two, has one sound file",
        arguments: ArchiveKind.all)
    func shared(kind: ArchiveKind) async throws {
        let desk = try OfficeDesk(kind)
        try await fillSticks(desk)
        #expect(try desk.gather(desk.stick("one"), desk.stick("two")).taken == 2)
        #expect(desk.copies().count == 2 && soundFileCount(desk) == 1)
        let other = try OfficeDesk(kind)
        for stick in ["two", "one"] { #expect(try other.gather(desk.stick(stick)).taken == 1) }
        #expect(other.copies() == desk.copies() && soundFileCount(other) == 1)
        #expect(other.archiveNames == ["pi-aaaaaaaa"])
        // Each copy is complete without the other.
        shell("rm -r '\(other.archivePath)/\(other.copies()[0])'")
        #expect(other.copies().count == 1)
    }

    @Test("a damaged sound file in the archive is not shared")
    func damaged() async throws {
        let desk = try OfficeDesk()
        try await fillSticks(desk)
        try desk.gather(desk.stick("one"))
        let copy = desk.copies()[0]
        shell("printf x >> '\(desk.archivePath)/\(copy)/audio.flac'")
        #expect(try desk.gather(desk.stick("two")).taken == 1)
        #expect(soundFileCount(desk) == 2)
        shell("rm -r '\(desk.archivePath)/\(copy)'")
        #expect(desk.copies().count == 1)
    }

    @Test("if the user may not create hard links, each copy has its own sound file")
    func withoutHardLinks() async throws {
        let isProtected = shell("cat /proc/sys/fs/protected_hardlinks").output == "1\n"
        guard getuid() == 0, isProtected else {
            return print("skipped: needs root, and a kernel with protected hard links")
        }
        let desk = try OfficeDesk()
        try await fillSticks(desk)
        try desk.gather(desk.stick("one"))
        // A team's folder, to which everybody may add files.
        shell(
            "cd '\(desk.folder.path)' && chmod -R a+rX . && cd '\(desk.archivePath)' && chmod a+w . * office.sqlite"
        )
        let run = shell(
            "setpriv --reuid=65534 --regid=65534 --clear-groups '\(try officeProgram())' gather '\(desk.stick("two"))' "
                + "--into '\(desk.archivePath)'")
        #expect(run.status == 0 && run.output.contains("1 copy added"), "\(run)")
        #expect(desk.copies().count == 2 && soundFileCount(desk) == 2 && desk.archiveNames == ["pi-aaaaaaaa"])
    }
}
