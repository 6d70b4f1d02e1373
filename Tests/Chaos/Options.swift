/// The words after the experiment's name: `--seeds 1000 --json`.
struct Options: Sendable {
    private var values: [String: String] = [:]

    init(_ words: [String]) {
        var name: String?
        for word in words {
            if word.hasPrefix("--") {
                name = String(word.dropFirst(2))
                values[name ?? ""] = ""
            } else if let known = name {
                values[known] = word
                name = nil
            }
        }
    }

    subscript(_ name: String) -> String? { values[name].flatMap { $0.isEmpty ? nil : $0 } }

    func has(_ name: String) -> Bool { values[name] != nil }

    func number(_ name: String, _ usual: Int) -> Int { self[name].flatMap { Int($0) } ?? usual }
}
