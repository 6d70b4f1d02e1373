import Glibc

/// A wall time in the machine's time zone, formatted for names and pages.
package struct WallTime {
    private let parts: tm

    /// - Parameter seconds: seconds since 1970-01-01T00:00:00Z.
    package init(_ seconds: Double) {
        // Limits the year to four digits.
        var time = time_t(min(max(0, seconds.isFinite ? seconds : 0), 253_000_000_000))
        var parts = tm()
        localtime_r(&time, &parts)
        self.parts = parts
    }

    private var year: String { "\(parts.tm_year + 1_900)" }
    private var month: String { (parts.tm_mon + 1).padded(to: 2) }
    private var day: String { parts.tm_mday.padded(to: 2) }
    private var hour: String { parts.tm_hour.padded(to: 2) }
    private var minute: String { parts.tm_min.padded(to: 2) }
    private var second: String { parts.tm_sec.padded(to: 2) }

    private var utcOffset: String {
        let minutes = abs(Int32(parts.tm_gmtoff / 60))
        return "\(parts.tm_gmtoff < 0 ? "-" : "+")\((minutes / 60).padded(to: 2)):\((minutes % 60).padded(to: 2))"
    }

    /// `2026-11-20_09-30-12`, which is a valid file name on FAT.
    var fileName: String { "\(year)-\(month)-\(day)_\(hour)-\(minute)-\(second)" }

    /// RFC 3339 with the offset from UTC.
    var stamp: String { "\(year)-\(month)-\(day)T\(hour):\(minute):\(second)\(utcOffset)" }

    /// `20 November 2026, 09:30`
    var title: String { "\(parts.tm_mday) \(Self.months[Int(parts.tm_mon)]) \(year), \(hour):\(minute)" }

    /// `2026-11-20 09:30`, for lists.
    package var short: String { "\(year)-\(month)-\(day) \(hour):\(minute)" }

    /// `Friday 20 November 2026, 09:30:12 (UTC+01:00)`
    package var full: String { "\(Self.days[Int(parts.tm_wday)]) \(title):\(second) (UTC\(utcOffset))" }

    static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
        "December",
    ]
    private static let days = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
}
