import Core
import Glibc
import System

/// The machine's own switch.
enum PowerSwitch {
    /// Asks systemd to end everything, us included, and to switch the machine off.
    ///
    /// - Throws: `DeviceError` with `denied` where that is not allowed.
    static func off() throws(DeviceError) {
        let words: [String] = ["systemctl", "--no-ask-password", "poweroff"]
        let arguments = words.map { strdup($0) }
        defer { arguments.forEach { free($0) } }
        var process = pid_t()
        let failure = posix_spawnp(&process, "systemctl", nil, nil, arguments + [nil], environ)
        guard failure == 0 else { throw .system("posix_spawn", status: failure, on: "systemctl") }
        var status: Int32 = 0
        _ = uninterrupted { waitpid(process, &status, 0) }
        guard status == 0 else {
            throw DeviceError(
                .denied, "systemctl", "systemctl poweroff was refused; allow it in polkit, or set panel.shutdown = no")
        }
    }
}
