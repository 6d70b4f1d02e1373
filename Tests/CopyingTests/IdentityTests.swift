import FoundationEssentials
import Testing
import TestKit

@testable import Copying
@testable import Core

@Suite("Recorders' folders") struct IdentityTests {
    private let firstIdentity = String(repeating: "1a", count: 16)
    private let secondIdentity = String(repeating: "2b", count: 16)

    private func text(_ path: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
    }

    @Test("two recorders with the same name keep separate folders")
    func sameName() async throws {
        var first = try await Setup()
        first.identity = firstIdentity
        var second = try await Setup(recordings: 2, stick: first.stick)
        second.identity = secondIdentity
        for round in 1...2 {
            let (mine, theirs) = (try await first.copy(), try await second.copy())
            #expect((round == 1 ? mine.copied : mine.keptCopies).map(\.folder) == ["recorder/\(Setup.name(1))"])
            #expect(
                (round == 1 ? theirs.copied : theirs.keptCopies).map(\.folder)
                    == ["recorder-2/\(Setup.name(1))", "recorder-2/\(Setup.name(2))"])
        }
        let index = try text("\(first.stick)/Fieldscribe/index.html")
        #expect(index.contains("recorder/\(Setup.name(1))/") && index.contains("recorder-2/\(Setup.name(2))/"))
    }

    @Test("a recorder keeps its folder if the folder has no identity yet")
    func folderWithoutIdentity() async throws {
        var setup = try await Setup()
        try await setup.copy()
        setup.identity = firstIdentity
        let report = try await setup.copy()
        #expect(report.keptCopies.map(\.folder) == ["recorder/\(Setup.name(1))"] && report.copied.isEmpty)
        #expect(try text("\(setup.exportFolder)/RECORDER.txt").hasPrefix("\(firstIdentity)\n"))
    }

    @Test("a recorder's folder is found if it has another name than the recorder")
    func renamedRecorder() async throws {
        var setup = try await Setup()
        setup.identity = firstIdentity
        try await setup.copy()
        #expect(shell("mv '\(setup.exportFolder)' '\(setup.stick)/Fieldscribe/awa'").status == 0)
        // The ledger lists the copy under the old name.
        #expect(try await setup.copy().keptCopies.map(\.folder) == ["awa/\(Setup.name(1))"])
        #expect(names("\(setup.stick)/Fieldscribe").filter { !$0.contains(".") } == ["awa"])
    }

    @Test(
        "a foreign RECORDER.txt does not prevent copying",
        arguments: ["mkfifo", "mkdir", "ln -s /etc/passwd", "touch"])
    func foreignRecorderFile(command: String) async throws {
        var setup = try await Setup()
        setup.identity = firstIdentity
        let prepared = shell(
            "mkdir -p '\(setup.exportFolder)' && \(command) '\(setup.exportFolder)/RECORDER.txt'")
        #expect(prepared.status == 0)
        #expect(try await setup.copy().copied.map(\.folder) == ["recorder-2/\(Setup.name(1))"])
    }

    @Test(
        "a copy in a renamed folder stays listed with its text, is updated, and is not copied again"
    )
    func renamedCopy() async throws {
        let setup = try await Setup(recordings: 2)
        try await setup.copy()
        let newName = "Awa \u{E4} & 'co'"
        #expect(shell("cd '\(setup.exportFolder)' && mv \(Setup.name(1)) \"\(newName)\"").status == 0)
        let report = try await setup.copy()
        #expect(report.copied.isEmpty)
        #expect(report.keptCopies.map(\.folder) == ["recorder/\(newName)", "recorder/\(Setup.name(2))"])
        let index = try text("\(setup.stick)/Fieldscribe/index.html")
        #expect(
            index.contains("recorder/Awa%20%C3%A4%20%26%20%27co%27/index.html") && index.contains("Awa \u{E4} &amp;"))
        #expect(index.split(separator: "one two").count == 5, "twice in the list, and twice in the search index")
        await setup.put(1, text: "one two three")
        #expect(try await setup.copy().copied.map(\.folder) == ["recorder/\(newName)"])
        #expect(try text("\(setup.exportFolder)/\(newName)/transcript.txt") == "one two three\n")
        #expect(try await setup.copy().copied.isEmpty)
        #expect(names(setup.exportFolder).count == 2)
    }
}
