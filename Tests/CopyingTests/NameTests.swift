import Glibc
import Testing
import TestKit

@testable import Copying
@testable import Core

@Suite("Names on a stick") struct NameTests {
    @Test(
        "a device's name is valid on every file system, whatever the host is called",
        arguments: [
            ("raspberrypi", "raspberrypi"), ("Field Recorder #2", "field-recorder-2"), ("CON", "fieldscribe-con"),
            ("../../etc", "etc"), ("", "fieldscribe"), ("...", "fieldscribe"), ("ümlaut", "mlaut"),
            ("lpt1", "fieldscribe-lpt1"),
            ("a\u{0}b/c\\d:e", "a-b-c-d-e"), (String(repeating: "x", count: 99), String(repeating: "x", count: 32)),
            ("-$(reboot)-", "reboot"),
        ])
    func deviceName(host: String, name: String) {
        #expect(DeviceName(madeOf: host).text == name)
        #expect(DeviceName(name)?.text == name)
    }

    @Test(
        "only exact copy names are parsed",
        arguments: [
            ("000007_2026-11-20_09-30-12", true), ("000007_clock-unverified", true),
            ("000007_clock-unverified_2", true),
            ("1234567_2026-11-20_09-30-12_13", true), ("000007_clock-unverified_9223372036854775807", false),
            ("000007_2026-11-20_09-30-12_1", false), ("000007", false),
            ("7_clock-unverified", false), ("0000007_clock-unverified", false), ("000000_clock-unverified", false),
            ("000007_Clock-Unverified", false), ("000007_2026-11-20_09-30-1x", false), ("partial", false), ("", false),
            ("000007_2026-11-20_09-30-12_02", false), ("000007_clock-unverified_", false), ("000007_..", false),
            ("٠٠٠٠٠٧_clock-unverified", false), ("000007_clock-unverified_2_3", false), ("000007_2026-11-20", false),
        ])
    func parse(text: String, isName: Bool) {
        #expect((CopyName(text)?.text == text) == isName)
        #expect((CopyName(text) == nil) == !isName)
    }

    @Test("repeated names are numbered, and a name's title is its date")
    func numberedNames() throws {
        let name = try #require(CopyName("000007_2026-11-20_09-30-12"))
        #expect(name.next.text == "000007_2026-11-20_09-30-12_2")
        #expect(name.next.next.text == "000007_2026-11-20_09-30-12_3")
        #expect(name.title == "20 November 2026, 09:30" && name.time != nil)
        #expect(CopyName("000007_clock-unverified")?.title == "Recording 7")
        #expect(CopyName("000007_2026-99-99_99-99-99")?.title == "2026-99-99_99-99-99")
    }

    @Test("a copy's name has the recording's ID, and its start if the clock was verified")
    func nameOfRecording() {
        var summary = RecordingSummary(id: 7, startedAt: 1_795_163_412, clock: .unverified, microphone: "")
        #expect(CopyName(summary).text == "000007_clock-unverified")
        summary.clock = .synchronized
        let date = shell("date -d @1795163412 +%Y-%m-%d_%H-%M-%S").output.split(separator: "\n").first ?? ""
        #expect(CopyName(summary).text == "000007_\(date)")
        summary.id = 12_345_678
        #expect(CopyName(summary).text == "12345678_\(date)")
        for startedAt in [Double.nan, -5, 1e300] {
            summary.startedAt = startedAt
            #expect(CopyName(CopyName(summary).text) == CopyName(summary))
        }
    }

    @Test("wall times match date(1)")
    func wallTime() {
        let time = WallTime(1_795_163_412)
        #expect(time.stamp == shell("date -d @1795163412 +%Y-%m-%dT%H:%M:%S%:z").output.filter { $0 != "\n" })
        let full = shell("LC_ALL=C date -d @1795163412 '+%A %-d %B %Y, %H:%M:%S (UTC%:z)'").output.filter {
            $0 != "\n"
        }
        #expect(time.full == full)
    }

    @Test("a folder inside a volume is identified by its real path")
    func folderIdentifier() throws {
        let folder = TemporaryFolder()
        let identifier = try volumeIdentifier(of: folder.path)
        #expect(identifier.hasPrefix("folder:/"))
        #expect(try volumeIdentifier(of: folder.path + "/./") == identifier)
        #expect(thrown { _ = try volumeIdentifier(of: folder.file("none")) }?.code == .missing)
    }
}
