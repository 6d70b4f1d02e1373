import Glibc
import Settings
import System

/// Returns the board's name, memory, cores, temperature and supply voltage, as far as the machine reports them.
func doctorBoard() -> DoctorFacts.Board {
    let name = firstLine(of: "/proc/device-tree/model") ?? firstLine(of: "/sys/class/dmi/id/product_name")
    var board = DoctorFacts.Board(
        name: name ?? "this machine", memoryMegabytes: MachineMemory.totalMegabytes, cores: Configuration.cores)
    board.temperature = paths(matching: "/sys/class/thermal/thermal_zone*/temp")
        .compactMap { firstLine(of: $0).flatMap(Double.init) }.max().map { $0 / 1_000 }
    // rpi_volt is the driver of the Raspberry Pi's voltage monitor.
    board.isUndervolted = paths(matching: "/sys/class/hwmon/hwmon*/name").first { firstLine(of: $0) == "rpi_volt" }
        .flatMap { firstLine(of: String($0.dropLast("name".count)) + "in0_lcrit_alarm") }.map { $0 == "1" }
    return board
}

/// Returns the recording user, and the groups that the configured devices require but that do not exist or do not
/// include the user.
func doctorPermissions(_ configuration: Configuration) -> DoctorFacts.Permissions {
    let service = getpwnam("fieldscribe").map { (name: String(cString: $0.pointee.pw_name), group: $0.pointee.pw_gid) }
    let current = getpwuid(geteuid()).map { (name: String(cString: $0.pointee.pw_name), group: $0.pointee.pw_gid) }
    let user = service ?? current ?? (name: "user \(geteuid())", group: getegid())
    var permissions = DoctorFacts.Permissions(user: user.name)
    permissions.isServiceUser = service != nil
    permissions.isRoot = service == nil && geteuid() == 0
    var neededGroups: [String] = []
    if configuration.capture.device.hasPrefix("alsa:") { neededGroups.append("audio") }
    if [configuration.panel.button, configuration.panel.lamp].contains(where: { "\($0)".hasPrefix("gpio:") }) {
        neededGroups.append("gpio")
    }
    let userGroups = groups(of: user.name, primary: user.group)
    for group in neededGroups {
        guard let entry = getgrnam(group) else {
            permissions.unknownGroups.append(group)
            continue
        }
        if !permissions.isRoot, !userGroups.contains(entry.pointee.gr_gid) { permissions.missingGroups.append(group) }
    }
    return permissions
}

private func groups(of user: String, primary: gid_t) -> [gid_t] {
    var count: Int32 = 256
    var groups = [gid_t](repeating: 0, count: Int(count))
    guard getgrouplist(user, primary, &groups, &count) >= 0 else { return [primary] }
    return Array(groups.prefix(Int(count)))
}

/// Returns the first line of a kernel file; nil if it is empty or unreadable.
private func firstLine(of path: String) -> String? {
    guard let bytes = try? beginning(ofFile: path, count: 256) else { return nil }
    let line = String(decoding: bytes.prefix { $0 != 0 && $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    return line.isEmpty ? nil : line
}

/// Returns the programs and folders that the service's sandbox allows, including local overrides; nil if systemd
/// reports none.
func doctorRunnable() -> [String]? {
    guard
        let child = try? ChildProcess(
            "/usr/bin/systemctl", arguments: ["show", "--property=ExecPaths", "--value", "fieldscribe.service"],
            showsErrors: false)
    else { return nil }
    let output = (try? child.output(upTo: 65_536, timeoutSeconds: 10)) ?? []
    let paths = String(decoding: output, as: UTF8.self).split(whereSeparator: \.isWhitespace)
    return paths.isEmpty ? nil : paths.map { String($0.drop { $0 == "-" || $0 == "+" }) }
}
