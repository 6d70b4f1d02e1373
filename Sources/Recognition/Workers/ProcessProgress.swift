import Core
import System

/// The work of a process and its children so far. CPU time and page faults grow while a process works, even on a busy
/// machine.
struct ProcessProgress: Hashable, Sendable {
    /// CPU time plus page faults.
    private var work: UInt64 = 0
    /// Whether a signal has stopped the process.
    private(set) var isStopped = false

    private static let deepest = 4

    /// Reads the work of a process from /proc; nil if the kernel does not report it.
    ///
    /// - Parameter id: the process ID.
    init?(of id: Int32) {
        guard let state = add(id, depth: 0) else { return nil }
        isStopped = state == "T" || state == "t"
    }

    /// Adds the work of a process and its children; returns its state, as `ps` shows it.
    private mutating func add(_ id: Int32, depth: Int) -> Character? {
        // The name in parentheses may contain anything.
        guard let text = Self.text("/proc/\(id)/stat"), let end = text.lastIndex(of: ")") else { return nil }
        let fields = text[text.index(after: end)...].split(separator: " ")
        guard fields.count > 14, let state = fields[0].first else { return nil }
        // Page faults and CPU time of the process and of its ended children: fields 10 to 17 in proc(5); `fields`
        // starts at 3.
        for field in fields[7...14] { work &+= UInt64(field) ?? 0 }
        guard depth < Self.deepest, let tasks = try? names(inFolder: "/proc/\(id)/task") else { return state }
        for task in tasks {
            let children = Self.text("/proc/\(id)/task/\(task)/children") ?? ""
            for child in children.split(separator: " ").compactMap({ Int32($0) }) { _ = add(child, depth: depth + 1) }
        }
        return state
    }

    private static func text(_ path: String) -> String? {
        (try? beginning(ofFile: path, count: 65_536)).map { String(decoding: $0, as: UTF8.self) }
    }
}
