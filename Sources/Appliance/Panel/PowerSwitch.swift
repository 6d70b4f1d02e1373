import Core
import System

enum PowerSwitch {
    /// Asks systemd to shut the machine down, this process included.
    ///
    /// - Throws: `DeviceError` with `denied` if polkit refuses it.
    static func off() throws(DeviceError) {
        let child = try ChildProcess("/usr/bin/systemctl", arguments: ["--no-ask-password", "poweroff"])
        guard try child.exitStatus(timeoutSeconds: 60) == 0 else {
            throw DeviceError(
                .denied, "systemctl", "systemctl poweroff was refused; allow it in polkit, or set panel.shutdown = no")
        }
    }
}
