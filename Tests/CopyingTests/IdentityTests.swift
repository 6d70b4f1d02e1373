import FoundationEssentials
import Testing
import TestKit

@testable import Copying
@testable import Core

/// Folders are found by their content, not by their names.
@Suite("Recorders' folders") struct IdentityTests {
    private let firstIdentity = String(repeating: "1a", count: 16)
    private let secondIdentity = String(repeating: "2b", count: 16)

    private func text(_ path: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
    }

    @Test("two recorders with the same name keep separate folders")
    func sameName() async throws {
        var first = try await Desk()
        first.identity = firstIdentity
        var second = try await Desk(recordings: 2, stick: first.stick)
        second.identity = secondIdentity
        for round in 1...2 {
            let (mine, theirs) = (try await first.copy(), try await second.copy())
            #expect((round == 1 ? mine.copied : mine.kept).map(\.folder) == ["recorder/\(Desk.name(1))"])
            #expect(
                (round == 1 ? theirs.copied : theirs.kept).map(\.folder)
                    == ["recorder-2/\(Desk.name(1))", "recorder-2/\(Desk.name(2))"])
        }
        let index = try text("\(first.stick)/Fieldscribe/index.html")
        #expect(index.contains("recorder/\(Desk.name(1))/") && index.contains("recorder-2/\(Desk.name(2))/"))
    }

    @Test("a recorder keeps using its folder that has no identity yet")
    func older() async throws {
        var desk = try await Desk()
        try await desk.copy()
        desk.identity = firstIdentity
        let report = try await desk.copy()
        #expect(report.kept.map(\.folder) == ["recorder/\(Desk.name(1))"] && report.copied.isEmpty)
        #expect(try text("\(desk.exportFolder)/RECORDER.txt").hasPrefix("\(firstIdentity)\n"))
    }

    @Test("a renamed recorder's folder is found")
    func renamedRecorder() async throws {
        var desk = try await Desk()
        desk.identity = firstIdentity
        try await desk.copy()
        #expect(shell("mv '\(desk.exportFolder)' '\(desk.stick)/Fieldscribe/awa'").status == 0)
        // The ledger lists the copy under the old name.
        #expect(try await desk.copy().kept.map(\.folder) == ["awa/\(Desk.name(1))"])
        #expect(names("\(desk.stick)/Fieldscribe").filter { !$0.contains(".") } == ["awa"])
    }

    @Test(
        "a foreign RECORDER.txt does not prevent copying",
        arguments: ["mkfifo", "mkdir", "ln -s /etc/passwd", "touch"])
    func foreign(command: String) async throws {
        var desk = try await Desk()
        desk.identity = firstIdentity
        #expect(shell("mkdir -p '\(desk.exportFolder)' && \(command) '\(desk.exportFolder)/RECORDER.txt'").status == 0)
        #expect(try await desk.copy().copied.map(\.folder) == ["recorder-2/\(Desk.name(1))"])
    }

    @Test(
        "a copy in a renamed folder stays listed with its text, is updated, and is not copied again"
    )
    func renamedCopy() async throws {
        let desk = try await Desk(recordings: 2)
        try await desk.copy()
        let mine = "Awa \u{E4} & 'co'"
        #expect(shell("cd '\(desk.exportFolder)' && mv \(Desk.name(1)) \"\(mine)\"").status == 0)
        let report = try await desk.copy()
        #expect(report.copied.isEmpty && report.kept.map(\.folder) == ["recorder/\(mine)", "recorder/\(Desk.name(2))"])
        let index = try text("\(desk.stick)/Fieldscribe/index.html")
        #expect(
            index.contains("recorder/Awa%20%C3%A4%20%26%20%27co%27/index.html") && index.contains("Awa \u{E4} &amp;"))
        #expect(index.split(separator: "one two").count == 5, "twice in the list, and twice in the search index")
        await desk.put(1, text: "one two three")
        #expect(try await desk.copy().copied.map(\.folder) == ["recorder/\(mine)"])
        #expect(try text("\(desk.exportFolder)/\(mine)/transcript.txt") == "one two three\n")
        #expect(try await desk.copy().copied.isEmpty)
        #expect(names(desk.exportFolder).count == 2)
    }
}
