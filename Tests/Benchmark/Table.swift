/// A table in Markdown.
struct Table {
    private var rows: [[String]]

    init(_ columns: String...) { self.init(columns) }

    init(_ columns: [String]) { rows = [columns, columns.map { _ in "---" }] }

    mutating func add(_ cells: [String]) { rows.append(cells) }

    /// Adds a row with Fieldscribe's figure, the other program's, and their ratio.
    mutating func compare(_ label: String, _ ours: Double, _ peer: Double) {
        add([label, formatted(ours, 2), formatted(peer, 2), formatted(ours / peer, 2)])
    }

    var markdown: String { rows.map { "| " + $0.joined(separator: " | ") + " |\n" }.joined() }
}

/// Formats a number with this many decimals, or as `-` if it is not finite.
func formatted(_ value: Double, _ decimals: Int) -> String {
    guard value.isFinite else { return "-" }
    var scale = 1
    for _ in 0..<decimals { scale *= 10 }
    let whole = Int((abs(value) * Double(scale)).rounded())
    let sign = value < 0 && whole > 0 ? "-" : ""
    guard decimals > 0 else { return "\(sign)\(whole)" }
    let fraction = "\(whole % scale)"
    return "\(sign)\(whole / scale)." + String(repeating: "0", count: decimals - fraction.count) + fraction
}
