import FoundationEssentials
import Glibc
import TestKit
import Testing

@testable import Core
@testable import Office

@Suite("Files added in the office", .serialized) struct AddCommandTests {
    static let speechPath =
        "/usr/share/pocketsphinx/test/data/librivox/sense_and_sensibility_01_austen_64kb-0870.wav"

    @Test(
        "a file is added once, as a recording with a title, a transcript and the original file",
        arguments: ArchiveKind.all)
    func addsOnce(kind: ArchiveKind) throws {
        let desk = try OfficeDesk(kind)
        let configuration = desk.folder.file("fieldscribe.conf")
        try Data("[recognizer]\nengine = pocketsphinx\n".utf8).write(to: URL(filePath: configuration))
        let path = desk.folder.file("Anna at the mill.wav")
        shell("sox '\(Self.speechPath)' -r 44100 '\(path)'")
        func add(_ arguments: String) throws -> (status: Int32, output: String) {
            shell(
                "FIELDSCRIBE_CONFIG='\(configuration)' '\(try officeProgram())' add \(desk.into) "
                    + "--program '\(try builtProgram("fieldscribe"))' \(arguments)")
        }
        let first = try add("'\(path)' /nowhere.wav")
        #expect(first.status == 3 && first.output.contains(": 1 recording added"), "\(first.output)")
        #expect(first.output.contains("fieldscribe: /nowhere.wav: "), "\(first.output)")
        let recording = try #require(try desk.archive().recordings(OfficeFilter()).first)
        #expect(recording.title == "Anna at the mill" && recording.recorder.name == "desk")
        let copy = try #require(desk.copies().first)
        #expect(shell("cmp '\(path)' '\(desk.archivePath)/\(copy)/original.wav'").status == 0)
        #expect(shell("grep -c '\"text\"' '\(desk.archivePath)/\(copy)/transcript.json'").status == 0)
        let again = try add("'\(path)'")
        #expect(again.status == 0 && again.output.contains("is already recording \(recording.id)"), "\(again.output)")
        #expect(try desk.archive().recordings(OfficeFilter()).count == 1)
    }
}
