import Testing
import TestKit

/// Tests deploy/drive with ordinary files in place of the kernel's, and with replacements for commands that need root.
///
/// The replacement for `sleep` plays the laptop: each call logs the image that a laptop would see, and then runs the
/// next line of the file `script`.
@Suite("The steps of the drive") struct DriveTests {
    private let folder = TemporaryFolder()

    private static let replacements = [
        "setpriv": "while [ \"$1\" != -- ]; do shift; done; shift; exec \"$@\"",
        "fieldscribe": """
        case "$1 $2" in
        'drive plan') printf 'step=%s\\nbytes=1048576\\ndirectory=%s\\n' "$(cat "$ROOT/step")" "$ROOT/storage" ;;
        *) echo "$*" >>"$ROOT/log" ;;
        esac
        """,
        // Replaces the unit that fills the image.
        "timeout": """
        case "$*" in
        *asks/began) echo fill >>"$ROOT/log"; [ -p "$ROOT/run/asks/outcome" ] && [ -e "$ROOT/run/asks/wanted" ] ;;
        *) shift; exec "$@" ;;
        esac
        """,
        "cat": """
        case "$*" in
        *asks/outcome)
            if [ -e "$ROOT/fails" ]; then echo "$(/bin/cat "$ROOT/fails")"; exit; fi
            echo current >"$ROOT/step"
            echo 'fieldscribe-drive-1 clear a finished' >"$ROOT/storage/drive/contents"
            echo success
            ;;
        *) exec /bin/cat "$@" ;;
        esac
        """,
        "sleep": """
        line=$(sed -n 1p "$ROOT/script")
        sed -i 1d "$ROOT/script"
        [ -n "$line" ] || { kill "$PPID"; exit; }
        gadget=$ROOT/sys/kernel/config/usb_gadget/fieldscribe
        [ -z "$(cat $gadget/UDC)" ] || echo "seen: $(basename "$(cat $gadget/functions/mass_storage.0/lun.0/file)")" >>"$ROOT/log"
        eval "$line"
        """,
        "mountpoint": "exit 1", "mount": "exit 0", "umount": "exit 0", "modprobe": "exit 0", "fstrim": "exit 0",
        "losetup": "echo /dev/loop0", "id": "echo 970", "stat": "echo fieldscribe", "fsck.vfat": "exit 0",
        "mkfs.vfat": "echo mkfs >>\"$ROOT/log\"",
    ]

    init() throws {
        let lun = folder.file("sys/kernel/config/usb_gadget/fieldscribe/functions/mass_storage.0/lun.0")
        let udc = folder.file("sys/class/udc/20980000.usb/device/gadget.0")
        for path in [
            folder.file("bin"), folder.file("run/asks"), folder.file("run/store"), folder.file("run/mount"),
            folder.file("storage/drive"), lun, udc,
        ] {
            #expect(try Tool("mkdir", "-p", path).status == 0)
        }
        for (name, text) in Self.replacements { _ = try folder.program("bin/\(name)", text) }
        for name in ["storage/drive/image", "log", "script"] { try write("", to: folder.file(name)) }
        try write("", to: "\(lun)/file")
        try write("", to: folder.file("sys/kernel/config/usb_gadget/fieldscribe/UDC"))
        try write("0\n", to: "\(udc)/suspended")
        try write("not attached\n", to: folder.file("sys/class/udc/20980000.usb/state"))
        try write("100.00 1.0\n", to: folder.file("uptime"))
    }

    private func serve(step: String, _ script: String = "") throws -> (log: [String], tool: Tool) {
        try write(step, to: folder.file("step"))
        try write(script + "\n", to: folder.file("script"))
        let tool = try Tool(
            [Repository.file("deploy/drive"), "serve"],
            environment: [
                "ROOT": folder.path, "FIELDSCRIBE_DRIVE": folder.file("run"),
                "FIELDSCRIBE_SYS": folder.file("sys"),
                "FIELDSCRIBE_UPTIME": folder.file("uptime"),
                "PATH": folder.file("bin") + ":/usr/sbin:/usr/bin:/sbin:/bin",
            ])
        return (try text(of: folder.file("log")).split(separator: "\n").map(String.init), tool)
    }

    /// Returns a line of `script` that advances the clock by a minute. It can also set the state of the port or the next
    /// step, or eject the drive.
    private static func line(_ state: String? = nil, suspended: Int? = nil, step: String? = nil, ejects: Bool = false)
        -> String
    {
        var commands: [String] = []
        if let state { commands.append("echo '\(state)' >$ROOT/sys/class/udc/20980000.usb/state") }
        if let suspended {
            commands.append("echo \(suspended) >$ROOT/sys/class/udc/20980000.usb/device/gadget.0/suspended")
        }
        if let step { commands.append("echo \(step) >$ROOT/step") }
        if ejects { commands.append("echo >$gadget/functions/mass_storage.0/lun.0/file") }
        commands.append("read -r a b <$ROOT/uptime; echo \"$((${a%.*} + 60)).0 $b\" >$ROOT/uptime")
        return commands.joined(separator: "; ")
    }

    @Test("if the drive is off, or no port can act as a USB drive, deploy/drive exits without a fault")
    func noDrive() throws {
        let off = try serve(step: "off")
        #expect(off.tool.status == 0 && off.log == [] && off.tool.errors == "")
        #expect(try Tool("rm", "-r", folder.file("sys/class/udc/20980000.usb")).status == 0)
        let none = try serve(step: "remake")
        #expect(none.tool.status == 0 && none.log == [])
        #expect(none.tool.errors.hasPrefix("<4>drive: usb.drive is yes, but no USB port of this board can act as"))
    }

    @Test("new recordings wait until the laptop has ejected the drive")
    func ejected() throws {
        let script = [
            Self.line("configured"), Self.line(step: "update"), Self.line(), Self.line(ejects: true), Self.line(), "",
        ]
        let (log, tool) = try serve(step: "current", script.joined(separator: "\n"))
        #expect(
            log == [
                "seen: image", "lamp laptop", "seen: image", "lamp laptop", "seen: image", "lamp laptop", "seen: image",
                "lamp laptop", "fill", "seen: image", "lamp laptop",
            ], "\(log) \(tool.errors)")
    }

    @Test(
        "a disconnected cable is detected immediately, and a sleeping laptop after a delay"
    )
    func away() throws {
        let disconnected = try serve(
            step: "current",
            [Self.line("configured"), Self.line("not attached", step: "update"), ""].joined(separator: "\n"))
        #expect(disconnected.log.suffix(3) == ["seen: image", "lamp no-laptop", "fill"], "\(disconnected.log)")
        try write("", to: folder.file("log"))
        let sleepScript =
            [Self.line("configured"), Self.line(suspended: 1, step: "update")] + Array(repeating: Self.line(), count: 4)
        let (log, _) = try serve(step: "current", (sleepScript + [""]).joined(separator: "\n"))
        #expect(log.filter { $0 == "fill" }.count == 1 && log.last == "fill", "\(log)")
        #expect(log.filter { $0 == "seen: image" }.count == 6)
        try write("", to: folder.file("log"))
        // The laptop is suspended only briefly.
        let briefSleep = [
            Self.line("configured", suspended: 0), Self.line(suspended: 1, step: "update"), Self.line(suspended: 0),
            Self.line(),
        ]
        #expect(try !serve(step: "current", (briefSleep + [""]).joined(separator: "\n")).log.contains("fill"))
    }

    @Test(
        "erased recordings, and unencrypted ones that must now be encrypted, are removed from the drive immediately",
        arguments: [("erase", false), ("remake", true)])
    func immediately(step: String, isReformatted: Bool) throws {
        let (log, _) = try serve(
            step: "current", [Self.line("configured"), Self.line(step: step), Self.line(), ""].joined(separator: "\n"))
        #expect(log.filter { $0 == "fill" }.count == 1)
        #expect(log.contains("mkfs") == isReformatted)
    }

    @Test(
        "the image is removed if recordings need the space, copying is not allowed, or the drive is off",
        arguments: ["yield", "refused", "off"])
    func removed(step: String) throws {
        let (log, tool) = try serve(
            step: "current", [Self.line("configured"), Self.line(step: step), Self.line(), ""].joined(separator: "\n"))
        #expect(!log.contains("fill") && tool.errors.contains("removed (\(step))"))
        #expect(try Tool("ls", "-A", folder.file("storage/drive")).output == "")
    }

    /// Runs a step as if root ran it, and returns its calls of mount and its answer.
    private func runStep(_ name: String, result: String = "success") throws -> (mounts: [String], answer: String) {
        _ = try folder.program("bin/id", "echo 0")
        _ = try folder.program("bin/mount", "echo \"$*\" >>\"$ROOT/mounts\"")
        for pipe in ["began", "outcome"] { _ = try Tool("mkfifo", folder.file("run/asks/\(pipe)")) }
        try write("\(folder.file("storage"))\n", to: folder.file("run/asks/directory"))
        try write("", to: folder.file("mounts"))
        let pipe = folder.file("run/asks/\(name == "unmount" ? "outcome" : "began")")
        let reader = name == "again" ? "" : "/bin/cat '\(pipe)' >'\(folder.file("answer"))' & "
        let tool = try Tool(
            ["sh", "-c", "\(reader)'\(Repository.file("deploy/drive"))' \(name); status=$?; wait; exit $status"],
            environment: [
                "ROOT": folder.path, "FIELDSCRIBE_DRIVE": folder.file("run"), "SERVICE_RESULT": result,
                "FIELDSCRIBE_UPTIME": folder.file("uptime"),
                "PATH": folder.file("bin") + ":/usr/sbin:/usr/bin:/sbin:/bin",
            ])
        #expect(tool.status == 0, "\(name): \(tool.errors)")
        let answer = (try? text(of: folder.file("answer"))) ?? ""
        return (try text(of: folder.file("mounts")).split(separator: "\n").map(String.init), answer)
    }

    @Test("root mounts the image without following links, and reports the result")
    func steps() throws {
        let mount = try runStep("mount")
        #expect(mount.answer == "yes\n" && mount.mounts.count == 3, "\(mount)")
        #expect(mount.mounts.first == "--bind \(folder.file("storage"))/drive \(folder.file("run"))/store")
        #expect(
            mount.mounts.dropFirst().first?.contains("remount,bind,nosuid,nodev,noexec,noatime,nosymfollow") == true)
        #expect(mount.mounts.last?.hasPrefix("--types vfat --options rw,nosuid") == true)
        #expect(try runStep("unmount", result: "exit-code").answer == "failed\n")
        _ = try runStep("mount")
        #expect(try runStep("again").mounts.last?.hasPrefix("--types vfat --options ro,nosuid") == true)
        #expect(try runStep("unmount", result: "exit-code").answer == "unreliable\n")
        #expect(try runStep("unmount").answer == "success\n")
    }

    @Test("an image that reads back differently is not shown to the laptop, and is removed")
    func unreliable() throws {
        try write("unreliable", to: folder.file("fails"))
        let (log, _) = try serve(step: "update", "")
        #expect(log == ["fill"], "\(log)")
        #expect(try Tool("ls", "-A", folder.file("storage/drive")).output == "")
    }

    @Test("an image that could not be filled is not shown to the laptop, and is filled again after ten minutes")
    func fails() throws {
        try write("failed", to: folder.file("fails"))
        let (log, tool) = try serve(
            step: "update", (Array(repeating: Self.line(), count: 12) + [""]).joined(separator: "\n"))
        #expect(log == ["fill", "fill"] && tool.errors.contains("could not be filled"), "\(log)")
    }
}
