import Glibc
import Testing

@testable import Audio
@testable import Core

@Suite("The date in a file's metadata") struct RecordedDateTests {
    private static let now = 1_800_000_000.0

    private func parse(_ tags: [String: String]) -> RecordedDate? { RecordedDate(tags, now: Self.now) }

    /// Returns a time on 3 May 2019 in this machine's time zone.
    private func local(_ hour: Int32, _ minute: Int32, _ second: Int32) -> Double {
        var parts = tm()
        (parts.tm_year, parts.tm_mon, parts.tm_mday) = (119, 4, 3)
        (parts.tm_hour, parts.tm_min, parts.tm_sec, parts.tm_isdst) = (hour, minute, second, -1)
        return Double(mktime(&parts))
    }

    @Test(
        "times with an offset are converted to UTC",
        arguments: [
            "2019-05-03T10:11:12Z", "2019-05-03T10:11:12.000000Z", "2019-05-03T12:11:12+02:00",
            "2019-05-03T12:11:12+0200", "2019-05-03T05:11:12-05:00", "2019-05-03 10:11:12Z",
        ])
    func offsets(text: String) throws {
        let date = try #require(parse(["creation_time": text]))
        #expect(date.seconds == 1_556_878_272 && date.isVerified)
    }

    @Test("a phone's local time takes precedence, a Broadcast WAV has two fields, and other times are local")
    func devices() {
        let phone = parse([
            "creation_time": "2019-05-03T10:11:20Z", "com.apple.quicktime.creationdate": "2019-05-03T12:11:12+0200",
        ])
        #expect(phone?.seconds == 1_556_878_272)
        #expect(parse(["date": "2019-05-03", "creation_time": "10:11:12"])?.seconds == local(10, 11, 12))
        #expect(parse(["date": "2019:05:03 10:11:12"])?.seconds == local(10, 11, 12))
    }

    @Test("a date without a time, or from a clock that was not set, is not verified")
    func unverified() {
        #expect(parse(["date": "2019-05-03"])?.seconds == local(0, 0, 0))
        #expect(parse(["date": "2019-05-03"])?.isVerified == false)
        let copy = ["date": "2019-05-03T12:11:12+02:00", "comment": "recording 7; clock unverified; stopped: button"]
        #expect(parse(copy)?.isVerified == false && parse(copy)?.seconds == 1_556_878_272)
    }

    @Test(
        "anything else is not a date",
        arguments: [
            "", "2019", "yesterday", "1904-01-01T00:00:00Z", "1970-01-01T00:00:00Z", "2200-01-01T00:00:00Z",
            "2019-05-03T10:11:12 noon", "2019-05-03T10:11:12+aa:bb", "2019-13-45T99:99:99Z",
            "2019-05-03T10:11:12+\u{FF11}200",
        ])
    func invalid(text: String) {
        #expect(parse(["creation_time": text]) == nil && parse(["comment": text]) == nil)
    }
}
