import Core
import Glibc

/// Parses an RFC 3339 time, such as `2026-11-25T15:00:00Z` or `2026-11-25T16:00:00+01:00`.
///
/// - Returns: seconds since 1970-01-01T00:00:00Z; nil if it is not such a time.
func seconds(ofStamp text: String) -> Double? {
    let bytes = Array(text.utf8)
    guard bytes.count >= 20, let parts = fields(bytes[..<19], "dddd-dd-ddTdd:dd:dd"), let whole = utc(parts) else {
        return nil
    }
    var rest = bytes[19...]
    if rest.first == UInt8(ascii: ".") { rest = rest.dropFirst().drop(while: \.isASCIIDigit) }
    if rest == [UInt8(ascii: "Z")] { return whole }
    guard let sign = rest.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-"),
        let offset = fields(rest.dropFirst(), "dd:dd")
    else { return nil }
    let seconds = Double(offset[0] * 3_600 + offset[1] * 60)
    return whole + (sign == UInt8(ascii: "+") ? -seconds : seconds)
}

/// Parses the time in a copy's name, such as `2026-11-20_09-30-12`. Assumes this machine's time zone, because the name has
/// none. Returns seconds since 1970-01-01T00:00:00Z; nil if it is not such a time.
func seconds(ofName text: String) -> Double? {
    guard let parts = fields(Array(text.utf8)[...], "dddd-dd-dd_dd-dd-dd"), utc(parts) != nil else { return nil }
    return seconds(of: parts, by: mktime)
}

/// Returns the seconds since 1970-01-01T00:00:00Z for a year, month, day, hour, minute and second.
///
/// - Parameter convert: `mktime` for this machine's time zone, `timegm` for UTC.
private func seconds(of parts: [Int], by convert: (UnsafeMutablePointer<tm>?) -> time_t) -> Double {
    var moment = tm()
    moment.tm_year = Int32(parts[0] - 1_900)
    moment.tm_mon = Int32(parts[1] - 1)
    moment.tm_mday = Int32(parts[2])
    moment.tm_hour = Int32(parts[3])
    moment.tm_min = Int32(parts[4])
    moment.tm_sec = Int32(parts[5])
    moment.tm_isdst = -1
    return Double(convert(&moment))
}

/// Returns the numbers in a text with this format, in which `d` stands for a digit; nil if the text has another format.
private func fields(_ bytes: ArraySlice<UInt8>, _ format: String) -> [Int]? {
    guard bytes.count == format.utf8.count else { return nil }
    var (numbers, isInNumber): ([Int], Bool) = ([], false)
    for (byte, expected) in zip(bytes, format.utf8) {
        if expected == UInt8(ascii: "d") {
            guard byte.isASCIIDigit else { return nil }
            if !isInNumber { numbers.append(0) }
            numbers[numbers.count - 1] = numbers[numbers.count - 1] * 10 + Int(byte - 0x30)
            isInNumber = true
        } else {
            guard byte == expected else { return nil }
            isInNumber = false
        }
    }
    return numbers
}

/// Returns the seconds since 1970-01-01T00:00:00Z for a UTC time; nil if a number is out of range.
private func utc(_ parts: [Int]) -> Double? {
    guard (1970...9_999).contains(parts[0]), (1...12).contains(parts[1]), (1...31).contains(parts[2]),
        (0...23).contains(parts[3]), (0...59).contains(parts[4]), (0...60).contains(parts[5])
    else { return nil }
    return seconds(of: parts, by: timegm)
}

/// Parses a day such as `2026-11-20`, or a time such as `2026-11-20T09:30`, in this machine's time zone.
///
/// - Parameter isEnd: whether a day stands for its end, which is the beginning of the next day.
/// - Returns: seconds since 1970-01-01T00:00:00Z; nil if the text is neither a day nor a time.
package func seconds(ofDay text: String, isEnd: Bool) -> Double? {
    let parts = text.split(separator: "T", omittingEmptySubsequences: false)
    guard let first = parts.first, parts.count <= 2 else { return nil }
    let day = first.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
    let time = (parts.count > 1 ? parts[1] : "0:0").split(separator: ":").map { Int($0) }
    guard day.count == 3, time.count == 2, let year = day[0], let month = day[1], let date = day[2],
        let hour = time[0], let minute = time[1], (1_900...9_999).contains(year), (1...12).contains(month),
        (1...days(in: month, of: year)).contains(date), (0...23).contains(hour), (0...59).contains(minute)
    else { return nil }
    return seconds(of: [year, month, date + (isEnd && parts.count == 1 ? 1 : 0), hour, minute, 0], by: mktime)
}

private func days(in month: Int, of year: Int) -> Int {
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    return month == 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31
}

/// Formats a time in this machine's time zone as a day and a time of day, such as `2026-11-20` and `09:30`.
///
/// - Parameter seconds: the time, in seconds since 1970-01-01T00:00:00Z.
package func localMinute(of seconds: Double) -> (day: String, time: String) {
    var (time, parts) = (time_t(seconds.within(0...253_402_200_000)), tm())
    localtime_r(&time, &parts)
    let day = "\(parts.tm_year + 1_900)-\((parts.tm_mon + 1).padded(to: 2))-\(parts.tm_mday.padded(to: 2))"
    return (day, "\(parts.tm_hour.padded(to: 2)):\(parts.tm_min.padded(to: 2))")
}
