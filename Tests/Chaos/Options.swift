/// The options after the experiments' names, such as `--seeds 1000 --json`.
struct Options: Sendable {
    private var values: [String: String] = [:]

    init(_ arguments: [String]) {
        var name: String?
        for argument in arguments {
            if argument.hasPrefix("--") {
                name = String(argument.dropFirst(2))
                values[name ?? ""] = ""
            } else if let option = name {
                values[option] = argument
                name = nil
            }
        }
    }

    subscript(_ name: String) -> String? { values[name].flatMap { $0.isEmpty ? nil : $0 } }

    func has(_ name: String) -> Bool { values[name] != nil }

    func integer(_ name: String, _ defaultValue: Int) -> Int {
        self[name].flatMap { Int($0) } ?? defaultValue
    }
}
