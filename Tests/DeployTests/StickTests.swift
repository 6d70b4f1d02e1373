import Glibc
import Testing
import TestKit

@Suite("The steps of copying to a stick") struct StickTests {
    private let folder = TemporaryFolder()

    private func stick(_ arguments: String...) throws -> Tool {
        try Tool(
            [Repository.file("deploy/stick")] + arguments,
            environment: ["FIELDSCRIBE_STICK": folder.file("stick"), "TZ": "UTC"])
    }

    /// Writes a copy of a recording. If `sums` is nil, its checksums are correct.
    private func writeCopy(_ name: String, sums: String? = nil) throws {
        let path = folder.file("stick/Fieldscribe/device/\(name)")
        #expect(try Tool("mkdir", "-p", path).status == 0)
        try write("what was said\n", to: "\(path)/transcript.txt")
        let text = try sums ?? Tool("env", "--chdir=\(path)", "sha256sum", "transcript.txt").output
        try write(text, to: "\(path)/SHA256SUMS")
    }

    @Test("new encrypted copies are compared with the checksums in their folder", arguments: ["", "x"])
    func sealed(change: String) throws {
        let path = folder.file("stick/Fieldscribe/sealed-1a2b3c")
        #expect(try Tool("mkdir", "-p", path).status == 0)
        for name in ["000001", "000002"] { try write("sealed \(name)\n", to: "\(path)/\(name).fieldscribe.age") }
        let sums = try Tool("bash", "-c", "cd '\(path)' && sha256sum *.age").output
        try write(sums, to: "\(path)/SHA256SUMS")
        // The first copy is not checked: it was modified before this export, which did not write it.
        try write("other\n", to: "\(path)/000001.fieldscribe.age")
        #expect(try Tool("touch", "--date=2 hours ago", "\(path)/000001.fieldscribe.age").status == 0)
        try write("sealed 000002\n\(change)", to: "\(path)/000002.fieldscribe.age")
        try setStart("1 hour ago")
        let tool = try stick("check", "sda1")
        #expect(tool.status == (change.isEmpty ? 0 : 1), "\(tool.errors)")
        try write("", to: "\(path)/SHA256SUMS")
        #expect(try stick("check", "sda1").status == 1)
    }

    /// Sets the start time of the export.
    private func setStart(_ date: String) throws {
        #expect(try Tool("touch", "--date=\(date)", folder.file("stick.owner.began")).status == 0)
    }

    @Test(
        "a device name that the kernel never uses is refused before anything else",
        arguments: ["", "../sda1", "sda1;reboot", "sd a1", "SDA1", "-sda1", "$(reboot)"])
    func names(name: String) throws {
        for step in ["admit", "mount", "mount-again", "check", "unmount"] {
            let tool = try stick(step, name)
            #expect(tool.status == 1)
            #expect(tool.errors.contains("usage:"))
        }
        #expect(try Tool("ls", "-A", folder.path).output == "")
    }

    @Test(
        "permission is checked before mounting, and the lamp distinguishes a refused stick from a failure",
        arguments: [(0, 0, ""), (6, 1, "refused"), (4, 255, "failed"), (127, 255, "failed")])
    func admit(status: Int, expected: Int32, lamp: String) throws {
        // Replaces runuser: logs its arguments, and exits like fieldscribe.
        _ = try folder.program(
            "programs/runuser",
            """
            echo "$*" >>'\(folder.file("calls"))'
            case $* in
            '-u fieldscribe -- fieldscribe stick admit sda1') echo 'the reason' >&2; exit \(status) ;;
            esac
            """)
        let tool = try Tool(
            [Repository.file("deploy/stick"), "admit", "sda1"],
            environment: [
                "FIELDSCRIBE_STICK": folder.file("stick"), "PATH": "\(folder.file("programs")):/usr/bin:/bin",
            ])
        #expect(tool.status == expected)
        #expect(tool.errors.contains("the reason") == !lamp.isEmpty)
        let calls = try text(of: folder.file("calls")).split(separator: "\n").dropFirst()
        #expect(calls.first.map(String.init) == (lamp.isEmpty ? nil : "-u fieldscribe -- fieldscribe lamp \(lamp)"))
        // No other files remain, so no other stick is delayed.
        #expect(try Tool("ls", "-A", folder.path).output == "calls\nprograms\n")
    }

    /// Runs a step with a simulated NTFS stick.
    ///
    /// - Parameters:
    ///   - mounts: How the stick can be mounted: `writing`, `reading` or `never`.
    ///   - ntfsfixStatus: The exit status of ntfsfix.
    private func ntfs(_ step: String, mounts: String, ntfsfixStatus: Int = 0) throws -> (tool: Tool, calls: String) {
        let calls = folder.file("calls")
        let log = "echo \"${0##*/} $*\" >>'\(calls)'"
        let failure = mounts == "never" ? "exit 1" : mounts == "reading" ? "case $* in *'rw,'*) exit 1 ;; esac" : ""
        for (name, body) in [
            ("mount", "\(log)\n\(failure)"), ("umount", log), ("blkid", "echo ntfs"), ("lsblk", "echo"),
            ("runuser", log), ("id", "echo 0"), ("chown", ""), ("ntfsfix", "\(log)\nexit \(ntfsfixStatus)"),
            ("setpriv", "while [ \"$1\" != -- ]; do shift; done; shift; exec \"$@\""), ("mountpoint", "exit 1"),
        ] { _ = try folder.program("programs/\(name)", body) }
        // /dev/null stands for the disk, so the check for a block device is removed.
        let script = folder.file("steps")
        try write(
            text(of: Repository.file("deploy/stick")).replacing("[ -b \"$device\" ]", with: "true"), to: script)
        let tool = try Tool(
            ["sh", script, step, "null"],
            environment: [
                "FIELDSCRIBE_STICK": folder.file("stick"), "PATH": "\(folder.file("programs")):/usr/bin:/bin",
            ])
        return (tool, (try? text(of: calls)) ?? "")
    }

    @Test(
        "log and lamp distinguish an NTFS stick that Windows left in use from one that cannot be mounted"
    )
    func locked() throws {
        let (tool, calls) = try ntfs("mount", mounts: "reading")
        #expect(tool.status == 1 && tool.errors.contains("eject it in Windows, or run: sudo fieldscribe stick repair"))
        #expect(calls.contains("umount \(folder.file("stick"))"))
        #expect(try ntfs("unmount", mounts: "reading").calls.contains("lamp locked"))
        #expect(try Tool("ls", "-A", folder.path).output == "calls\nprograms\nsteps\nstick\n")
        let unmountable = try ntfs("mount", mounts: "never").tool
        #expect(
            unmountable.status == 1 && unmountable.errors.contains("check it on another machine"),
            "\(unmountable.errors)")
        #expect(try ntfs("unmount", mounts: "never").calls.hasSuffix("lamp failed\n"))
        #expect(try ntfs("mount", mounts: "writing").tool.status == 0)
    }

    @Test(
        "repair clears the dirty flag of NTFS, or reports why it could not", arguments: [0, 1])
    func repair(ntfsfixStatus: Int) throws {
        let (tool, calls) = try ntfs("repair", mounts: "never", ntfsfixStatus: ntfsfixStatus)
        #expect(tool.status == Int32(ntfsfixStatus) && calls == "ntfsfix --clear-dirty /dev/null\n", "\(tool.output)")
        #expect(
            tool.output
                == (ntfsfixStatus == 0
                    ? "" : "null cannot be repaired by ntfsfix (status 1): run chkdsk on it in Windows\n"))
        #expect(tool.errors == "" && access(folder.file("stick.owner"), F_OK) != 0)
        symlink("sda1", folder.file("stick.owner"))
        #expect(try ntfs("repair", mounts: "never").tool.output.contains("while a stick is being copied to"))
    }

    @Test("anything other than a block device is refused")
    func noDevice() throws {
        let tool = try stick("mount", "null")
        #expect(tool.status == 1)
        #expect(tool.errors == "<3>stick=null is not a block device\n")
    }

    @Test("a copy that reads back unchanged passes")
    func unchangedCopy() throws {
        try writeCopy("000001")
        try writeCopy("000002_it's (2)")
        try setStart("1 hour ago")
        let tool = try stick("check", "sda1")
        #expect(tool.status == 0, "\(tool.errors)")
    }

    @Test("a copy with one wrong byte fails")
    func damagedCopy() throws {
        try writeCopy("000001")
        try writeCopy("000002")
        try write("what was sait\n", to: folder.file("stick/Fieldscribe/device/000002/transcript.txt"))
        try setStart("1 hour ago")
        let tool = try stick("check", "sda1")
        #expect(tool.status == 1)
        #expect(tool.errors.contains("reads back differently"))
    }

    @Test("checksums of files outside the folder fail the check")
    func outsideFolder() throws {
        try writeCopy("000001", sums: try Tool("sha256sum", "/etc/hostname", "/etc/passwd").output)
        try setStart("1 hour ago")
        #expect(try stick("check", "sda1").status == 1)
    }

    @Test("checksums that name a pipe do not block")
    func pipe() throws {
        try writeCopy("000001", sums: String(repeating: "0", count: 64) + "  pipe\n")
        #expect(try Tool("mkfifo", folder.file("stick/Fieldscribe/device/000001/pipe")).status == 0)
        try setStart("1 hour ago")
        #expect(try stick("check", "sda1").errors.contains("reads back differently"))
    }

    @Test("files are also checked if they were written after the clock was set back")
    func clockSetBack() throws {
        for name in ["umount", "mount", "sync"] { _ = try folder.program("programs/\(name)", "exit 0") }
        _ = try folder.program("programs/blkid", "echo vfat")
        _ = try folder.program("programs/id", "echo 0")
        try writeCopy("000001", sums: "nonsense\n")
        // The clock was an hour ahead when the export started, and was corrected afterwards.
        try setStart("58 minutes")
        let wrongOffset = "echo $(($(date +%s) - $(cut -d. -f1 /proc/uptime) + 3600))"
        try write(try Tool("sh", "-c", wrongOffset).output, to: folder.file("stick.owner.clock"))
        #expect(try stick("check", "sda1").status == 0)
        let remount = try Tool(
            [Repository.file("deploy/stick"), "mount-again", "sda1"],
            environment: [
                "FIELDSCRIBE_STICK": folder.file("stick"), "PATH": "\(folder.file("programs")):/usr/bin:/bin",
            ])
        #expect(remount.status == 0, "\(remount.errors)")
        #expect(try stick("check", "sda1").errors.contains("reads back differently"))
    }

    @Test("folders from earlier exports are not checked again")
    func earlierExports() throws {
        try writeCopy("000001", sums: "nonsense\n")
        try setStart("tomorrow")
        #expect(try stick("check", "sda1").status == 0)
    }

    @Test("unmounting does not affect another stick")
    func anotherStick() throws {
        #expect(try Tool("ln", "-s", "sdb1", folder.file("stick.owner")).status == 0)
        #expect(try stick("unmount", "sda1").status == 0)
        #expect(try Tool("readlink", folder.file("stick.owner")).output == "sdb1\n")
        let tool = try stick("unmount", "sdb1")
        // No stick is mounted, so nothing was copied.
        #expect(tool.errors == "<3>stick=sdb1 not everything was copied (not-mounted): the next stick continues\n")
        #expect(try Tool("ls", "-A", folder.path).output == "")
    }
}
