import FoundationEssentials
import Glibc

/// The results of an experiment. Each row has a figure, its target, the observed value, and whether the target is met.
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
    mutating func add(_ label: String, target: String, seen: String, isMet: Bool) {
        rows.append(Row(experiment: experiment, what: label, target: target, seen: seen, isMet: isMet))
        print("➜ \(isMet ? "ok  " : "MISS") \(experiment): \(label): \(seen) (target \(target))")
        fflush(nil)
    }

    /// Adds a count that must be zero, and the number of trials. 0 of N means a rate below 3/N, with 95 % confidence.
    mutating func add(none label: String, _ count: Int, of total: Int) {
        add(label, target: "0", seen: "\(count) of \(total)", isMet: count == 0)
    }

    /// Adds the number of deliberate violations that were detected. If it is 0, the experiment proves nothing.
    mutating func add(control label: String, caught: Int, of total: Int) {
        add("control: \(label)", target: "detected", seen: "\(caught) of \(total) detected", isMet: caught > 0)
    }

    /// Adds a figure without a target.
    mutating func note(_ label: String, _ seen: String) { add(label, target: "none", seen: seen, isMet: true) }

    static func table(_ rows: [Row]) -> String {
        "| experiment | figure | target | observed | |\n|---|---|---|---|---|\n"
            + rows.map {
                "| \($0.experiment) | \($0.what) | \($0.target) | \($0.seen) | \($0.isMet ? "ok" : "missed") |\n"
            }
            .joined()
    }

    static func json(_ rows: [Row]) -> String {
        (try? JSONEncoder().encode(rows)).map { String(decoding: $0, as: UTF8.self) } ?? "[]"
    }

    /// Parses the rows that `json(_:)` printed; nil if they are invalid.
    static func rows(json: String) -> [Row]? { try? JSONDecoder().decode([Row].self, from: Data(json.utf8)) }
}

/// Returns a value rounded to two decimals, for output.
func rounded(_ value: Double) -> Double { (value * 100).rounded() / 100 }
