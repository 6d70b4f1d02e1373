import Core
import Gathering
import Glibc
import Platform
import TestKit
import Testing

@Suite("Sound that copies have in common") struct SharingTests {
    init() { signal(SIGPIPE, SIG_IGN) }

    /// One recording on two sticks, with one history entry more on the second.
    private func fill(_ desk: OfficeDesk) async throws {
        let recorder = FieldRecorder("pi", identity: FieldRecorder.identity("a"))
        await recorder.record(1, "we planted fonio")
        let first = try await recorder.enter(1, "recorded")
        try await recorder.copy(to: desk.stick("one"))
        try await recorder.enter(2, "copied", before: first)
        try await recorder.copy(to: desk.stick("two"))
    }

    /// How many files the sound of the archive's copies is.
    private func files(_ desk: OfficeDesk) -> Int {
        shell("stat -c %i '\(desk.archivePath)'/*/*/audio.flac | sort -u").output.split(separator: "\n").count
    }

    @Test(
        "the same recording from two sticks has its sound once, whether they come together or not",
        arguments: ArchiveKind.all)
    func shared(kind: ArchiveKind) async throws {
        let desk = try OfficeDesk(kind)
        try await fill(desk)
        #expect(try desk.gather(desk.stick("one"), desk.stick("two")).taken == 2)
        #expect(desk.copies().count == 2 && files(desk) == 1)
        let other = try OfficeDesk(kind)
        for stick in ["two", "one"] { #expect(try other.gather(desk.stick(stick)).taken == 1) }
        #expect(other.copies() == desk.copies() && files(other) == 1)
        #expect(other.archiveNames == ["pi-aaaaaaaa"])
        // Each is whole by itself.
        shell("rm -r '\(other.archivePath)/\(other.copies()[0])'")
        #expect(other.copies().count == 1)
    }

    @Test("what was damaged in the archive since is shared with no copy")
    func damaged() async throws {
        let desk = try OfficeDesk()
        try await fill(desk)
        try desk.gather(desk.stick("one"))
        let copy = desk.copies()[0]
        shell("printf x >> '\(desk.archivePath)/\(copy)/audio.flac'")
        #expect(try desk.gather(desk.stick("two")).taken == 1)
        #expect(files(desk) == 2)
        shell("rm -r '\(desk.archivePath)/\(copy)'")
        #expect(desk.copies().count == 1)
    }

    @Test("where no file has two names, as on FAT, each copy has its own")
    func without() async throws {
        let desk = try OfficeDesk()
        try await fill(desk)
        try makeFolder(desk.archivePath)
        let script = """
            truncate -s 20M '\(desk.folder.file("image"))' && mkfs.vfat '\(desk.folder.file("image"))' >/dev/null &&
                mount -o loop '\(desk.folder.file("image"))' '\(desk.archivePath)' || exit 99
            '\(try officeProgram())' gather '\(desk.stick("one"))' '\(desk.stick("two"))' --into '\(desk.archivePath)'
            for copy in '\(desk.archivePath)'/*/*/; do (cd $copy && sha256sum --quiet --strict -c SHA256SUMS && echo whole); done
            umount '\(desk.archivePath)'
            """
        try durableReplace(path: desk.folder.file("script"), with: script)
        let run = shell("unshare -m bash '\(desk.folder.file("script"))'")
        if run.status == 99 || run.status == 1 { return print("skipped: no FAT can be mounted here") }
        #expect(run.output.contains("2 copies taken\n") && run.output.hasSuffix("whole\nwhole\n"), "\(run)")
    }
}
