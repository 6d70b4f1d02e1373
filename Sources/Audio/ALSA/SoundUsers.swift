import Glibc
import System

/// Finds the processes that use sound cards, from /proc and /dev.
enum SoundUsers {
    /// Returns the programs that are capturing, in the form `arecord (process 1234)`.
    ///
    /// - Parameter root: The mount point of procfs.
    static func capturing(root: String = "/proc") -> [String] {
        var users: [String] = []
        for path in paths(matching: "\(root)/asound/card*/pcm*c/sub*/status") {
            let lines = content(of: path).split(separator: "\n")
            guard let line = lines.first(where: { $0.hasPrefix("owner_pid") }),
                let pid = Int(line.drop { !$0.isNumber }.prefix { $0.isNumber })
            else { continue }
            let name = content(of: "\(root)/\(pid)/comm").prefix { $0 != "\n" }
            let user = name.isEmpty ? "process \(pid)" : "\(name) (process \(pid))"
            if !users.contains(user) { users.append(user) }
        }
        return users
    }

    /// Whether there are sound cards but this user may not open any of them.
    static var isDenied: Bool {
        let controls = paths(matching: "/dev/snd/controlC*")
        return !controls.isEmpty && controls.allSatisfy { access($0, R_OK | W_OK) != 0 && errno == EACCES }
    }

    private static func content(of path: String) -> String {
        String(decoding: (try? beginning(ofFile: path, count: 4_096)) ?? [], as: UTF8.self)
    }
}
