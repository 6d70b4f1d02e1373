internal import CLinux
import Core
import Glibc

/// The parameters of a new process.
struct ChildStart: Sendable {
    /// A descriptor of this process, and its number in the child.
    struct Passed: Sendable {
        var ours: Int32
        var childs: Int32
    }

    var path: String
    var arguments: [String]
    var passed: [Passed]
    var showsErrors: Bool
    /// Variables to add to ours, unless set there.
    var environment: [String: String] = [:]

    /// Starts it with the calling thread's niceness; returns its process ID.
    ///
    /// - Throws: `DeviceError` with `missing` or `denied` if it cannot be started.
    func start() throws(DeviceError) -> Int32 {
        // Read on the calling thread.
        let niceness = fieldscribe_niceness()
        let (id, status) = try SpawnThread.run { [self] in spawn(niceness: niceness) }
        guard id > 0 else { throw .system("execve", status: status, on: path) }
        return id
    }

    /// Our environment, without the final null.
    private static var own: [UnsafeMutablePointer<CChar>?] {
        var entries: [UnsafeMutablePointer<CChar>?] = []
        while let entry = environ[entries.count] { entries.append(entry) }
        return entries
    }

    private func spawn(niceness: Int32) -> (id: Int32, status: Int32) {
        let strings = ([path] + arguments).map { strdup($0) }
        defer { strings.forEach { free($0) } }
        let added = environment.filter { getenv($0.key) == nil }.map { strdup("\($0.key)=\($0.value)") }
        defer { added.forEach { free($0) } }
        let pairs = passed.flatMap { [$0.ours, $0.childs] }
        let id = fieldscribe_spawn(
            path, strings + [nil], Self.own + added + [nil], pairs, Int32(passed.count), showsErrors ? 1 : 0, niceness)
        return (id, errno)
    }
}
