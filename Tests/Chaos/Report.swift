import FoundationEssentials
import Glibc

/// The figures of an experiment: the promise, the observation, and whether it is kept.
struct Report: Sendable {
    struct Row: Codable, Sendable {
        var experiment: String
        var what: String
        var target: String
        var seen: String
        var isMet: Bool
    }

    private(set) var rows: [Row] = []
    private let experiment: String

    init(_ experiment: String) { self.experiment = experiment }

    /// Adds a row and prints it immediately.
    mutating func add(_ what: String, target: String, seen: String, isMet: Bool) {
        rows.append(Row(experiment: experiment, what: what, target: target, seen: seen, isMet: isMet))
        print("➜ \(isMet ? "ok  " : "MISS") \(experiment): \(what): \(seen) (target \(target))")
        fflush(nil)
    }

    /// A figure that must be zero, and the number of trials: 0 in N means at most 3/N at 95 %.
    mutating func add(none what: String, _ count: Int, of total: Int) {
        add(what, target: "0", seen: "\(count) in \(total)", isMet: count == 0)
    }

    /// Whether the harness detects a known violation; without that, it proves nothing.
    mutating func add(control what: String, caught: Int, of total: Int) {
        add("control: \(what)", target: "caught", seen: "\(caught) of \(total) caught", isMet: caught > 0)
    }

    /// A figure without a target.
    mutating func note(_ what: String, _ seen: String) { add(what, target: "none", seen: seen, isMet: true) }

    static func table(_ rows: [Row]) -> String {
        "| experiment | what | target | seen | |\n|---|---|---|---|---|\n"
            + rows.map {
                "| \($0.experiment) | \($0.what) | \($0.target) | \($0.seen) | \($0.isMet ? "ok" : "missed") |\n"
            }
            .joined()
    }

    static func json(_ rows: [Row]) -> String {
        (try? JSONEncoder().encode(rows)).map { String(decoding: $0, as: UTF8.self) } ?? "[]"
    }

    /// Rows that another run of this program printed.
    static func rows(json: String) -> [Row]? { try? JSONDecoder().decode([Row].self, from: Data(json.utf8)) }
}

/// Two decimals, for people.
func rounded(_ value: Double) -> Double { (value * 100).rounded() / 100 }
