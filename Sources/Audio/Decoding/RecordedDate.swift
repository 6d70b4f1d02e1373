import Glibc

/// When a file's sound was recorded, according to its metadata.
struct RecordedDate: Hashable, Sendable {
    /// Wall time of the first sample, in seconds since 1970.
    var seconds: Double
    /// Whether the metadata contains a time of day, and does not say that the clock was unverified. If there is only a
    /// date, `seconds` is midnight.
    var isVerified: Bool

    /// The minimum date, since earlier dates come from devices whose clock was not set.
    private static let earliest = 315_532_800.0  // 1980

    /// - Parameters:
    ///   - tags: The metadata from `ffprobe`, by lowercase name.
    ///   - now: The current time in seconds since 1970. Dates more than one day later are ignored.
    /// - Returns: Nil if the metadata contains no valid date.
    init?(_ tags: [String: String], now: Double) {
        // A Broadcast WAV has date and time in separate fields.
        let (date, time) = (tags["date"] ?? "", tags["creation_time"] ?? "")
        let stamps = [tags["com.apple.quicktime.creationdate"] ?? "", time, "\(date) \(time)", date]
        func isPlausible(_ seconds: Double) -> Bool { (Self.earliest...(now + 86_400)).contains(seconds) }
        if let seconds = stamps.lazy.compactMap(Self.seconds(ofStamp:)).first(where: isPlausible) {
            // Fieldscribe's own copies contain this comment.
            let isUnverified = tags["comment"]?.contains("clock unverified") ?? false
            (self.seconds, isVerified) = (seconds, !isUnverified)
        } else if let seconds = Self.seconds(ofStamp: "\(date) 00:00:00"), isPlausible(seconds) {
            (self.seconds, isVerified) = (seconds, false)
        } else {
            return nil
        }
    }

    private static let patterns = ["dddd-dd-ddTdd:dd:dd", "dddd-dd-dd dd:dd:dd", "dddd:dd:dd dd:dd:dd"]

    /// Parses dates such as `2026-11-20T09:30:12.5+01:00`. If there is no offset, the time is in this machine's time
    /// zone.
    static func seconds(ofStamp text: String) -> Double? {
        let isDigit = { (byte: UInt8) in (0x30...0x39).contains(byte) }
        let head = Array(text.utf8.prefix(19))
        let pattern = String(decoding: head.map { isDigit($0) ? UInt8(ascii: "d") : $0 }, as: UTF8.self)
        let numbers = head.split { !isDigit($0) }.compactMap { Int32(String(decoding: $0, as: UTF8.self)) }
        guard patterns.contains(pattern), numbers.count == 6, 1...12 ~= numbers[1], 1...31 ~= numbers[2],
            numbers[3] < 24, numbers[4] < 60, numbers[5] <= 60
        else { return nil }
        var parts = tm()
        (parts.tm_year, parts.tm_mon, parts.tm_mday) = (numbers[0] - 1_900, numbers[1] - 1, numbers[2])
        (parts.tm_hour, parts.tm_min, parts.tm_sec, parts.tm_isdst) = (numbers[3], numbers[4], numbers[5], -1)
        var rest = Array(text.utf8.dropFirst(19))[...]
        if rest.first == UInt8(ascii: ".") { rest = rest.dropFirst().drop(while: isDigit) }
        if rest.isEmpty { return Double(mktime(&parts)) }
        let utcSeconds = Double(timegm(&parts))
        guard let sign = rest.popFirst() else { return nil }
        if sign == UInt8(ascii: "Z"), rest.isEmpty { return utcSeconds }
        // `+01:00` or `+0100`.
        let digits = rest.filter { $0 != UInt8(ascii: ":") }
        guard [UInt8(ascii: "+"), UInt8(ascii: "-")].contains(sign), digits.count == 4, digits.allSatisfy(isDigit),
            let number = Int(String(decoding: digits, as: UTF8.self))
        else { return nil }
        let offset = Double(number / 100 * 3_600 + number % 100 * 60)
        return sign == UInt8(ascii: "+") ? utcSeconds - offset : utcSeconds + offset
    }
}
