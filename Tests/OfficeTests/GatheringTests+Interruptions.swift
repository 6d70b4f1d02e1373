import Glibc
import Testing
import TestKit

@testable import Core
@testable import Office
@testable import System

// Gathering interrupted by a full disk or a signal.
extension GatheringTests {
    @Test("a full disk is reported in one line; earlier additions stay, and no copy is incomplete")
    func full() async throws {
        let desk = try OfficeDesk()
        let recorder = FieldRecorder("pi", identity: FieldRecorder.identity("a"))
        for id in 1...8 { await recorder.record(id, "recording \(id)") }
        try await recorder.copy(to: desk.stick("one"))
        // A file system for this test only.
        try makeFolder(desk.archivePath)
        let script = """
            mount -t tmpfs -o size=700k none '\(desk.archivePath)' || exit 99
            '\(try officeProgram())' gather '\(desk.stick("one"))' --into '\(desk.archivePath)'; echo status $?
            ls -A '\(desk.archivePath)'
            mount -o remount,size=20m '\(desk.archivePath)'
            '\(try officeProgram())' gather '\(desk.stick("one"))' --into '\(desk.archivePath)'; echo status $?
            cd '\(desk.archivePath)' && for copy in */*/; do (cd $copy && sha256sum --quiet --strict -c SHA256SUMS && echo whole); done
            """
        try durableReplace(path: desk.folder.file("script"), with: script)
        let run = shell("unshare -rm bash '\(desk.folder.file("script"))'")
        // Mounting needs user namespaces, which may be missing and are forbidden in a chroot.
        if run.status == 99 || run.output.hasPrefix("unshare: ") {
            return print("skipped: no file system can be mounted here")
        }
        let lines = run.output.split(separator: "\n").map(String.init)
        try #require(lines.count > 10, "\(run.output)")
        #expect(lines[0].hasPrefix("fieldscribe-office: ") && lines[0].contains("no space"), "\(run.output)")
        #expect(lines[1] == "status 1" && lines.count { $0.hasPrefix("fieldscribe-office: ") } == 1, "\(run.output)")
        #expect(!lines.contains { $0.hasPrefix(".gathering") }, "\(run.output)")
        #expect(lines.count { $0 == "whole" } == 8 && lines.contains("status 0"), "\(run.output)")
    }

    @Test(
        "after a kill at any moment, the next run continues; no copy is incomplete or added twice",
        arguments: ArchiveKind.all
    )
    func killed(kind: ArchiveKind) async throws {
        let desk = try OfficeDesk(kind)
        let recorder = FieldRecorder("pi", identity: FieldRecorder.identity("a"))
        for id in 1...150 { await recorder.record(id, "recording number \(id)") }
        try await recorder.copy(to: desk.stick("one"))
        var killCount = 0
        for attempt in 1...30 {
            let delay = 0.008 * Double(attempt)
            let run = shell(
                "timeout -s KILL \(delay) '\(try officeProgram())' gather '\(desk.stick("one"))' \(desk.into)"
            )
            if run.status == 0 { break }
            killCount += 1
            guard pathExists("\(desk.archivePath)/office.sqlite") else { continue }
            // Each copy that has a row in the database is complete.
            let folders = try desk.archive().recordings(OfficeFilter()).map(\.copyFolder)
            for folder in folders.suffix(5) {
                #expect(
                    shell("cd '\(desk.archivePath)/\(folder)' && sha256sum --quiet --strict -c SHA256SUMS").status == 0)
            }
        }
        print("➜ gathering: killed \(killCount) times")
        try desk.gather(desk.stick("one"))
        #expect(killCount > 3 && desk.copies().count == 150)
        let recordings = try desk.archive().recordings(OfficeFilter())
        #expect(recordings.map(\.number).sorted() == Array(1...150))
        #expect(recordings.allSatisfy { $0.transcriptCount == 1 })
        #expect(try desk.found("number 77").count == 1)
        #expect(desk.archiveNames == ["pi-aaaaaaaa"])
    }
}
