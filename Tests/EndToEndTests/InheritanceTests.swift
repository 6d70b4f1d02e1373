import FoundationEssentials
import Glibc
import Testing
import TestKit

@Suite("Inherited process state", .serialized) struct InheritanceTests {
    private let folder = TemporaryFolder()

    @Test("the appliance works despite closed streams, an ignored SIGCHLD and a umask of 777")
    func repaired() throws {
        let appliance = try ApplianceProcess(
            in: folder, microphone: "tone:440",
            script: "umask 777; exec env --ignore-signal=CHLD \"$0\" run --config \"$1\" <&- >&- 2>&-")
        let process = "/proc/\(appliance.process.id)"
        for number in 0...2 {
            let target = try FileManager.default.destinationOfSymbolicLink(atPath: "\(process)/fd/\(number)")
            #expect(target == "/dev/null")
        }
        let lines = try Fieldscribe.text("\(process)/status").split(separator: "\n")
        let line = try #require(lines.first { $0.hasPrefix("SigIgn:") })
        let ignored = try #require(line.split(separator: "\t").last)
        #expect(try #require(UInt64(ignored, radix: 16)) & (1 << UInt64(SIGCHLD - 1)) == 0)
        #expect(try appliance.run("start").status == 0)
        try appliance.waitForSound(seconds: 1)
        #expect(try appliance.run("stop").status == 0)
        #expect(try appliance.stop().status == 0)
        var file = stat()
        #expect(stat("\(appliance.storage)/recordings/000001/audio.wav", &file) == 0 && file.st_mode & 0o777 == 0o600)
        try expectVerified(appliance.run("verify"))
    }

    @Test("an unread log does not block the appliance, and later reports how many lines are missing")
    func unread() throws {
        let log = folder.file("log")
        #expect(mkfifo(log, 0o600) == 0)
        let reader = open(log, O_RDWR | O_NONBLOCK)
        try #require(reader >= 0)
        defer { close(reader) }
        let page = [UInt8](repeating: 0x78, count: 4_096)
        while write(reader, page, page.count) > 0 {}
        let appliance = try ApplianceProcess(in: folder, microphone: "tone:440", journal: log)
        #expect(try appliance.run("start").status == 0)
        try appliance.waitForSound(seconds: 1)
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        while read(reader, &buffer, buffer.count) > 0 {}
        #expect(try appliance.run("stop").status == 0)
        #expect(try appliance.stop().status == 0)
        var reported = ""
        while case let count = read(reader, &buffer, buffer.count), count > 0 {
            reported += String(decoding: buffer.prefix(count), as: UTF8.self)
        }
        #expect(reported.contains("unlogged lines=") && reported.contains("state=stopping"), "\(reported)")
        try expectVerified(appliance.run("verify"))
    }

    @Test("if no thread can be created, one line reports that")
    func threads() throws {
        // Limits do not apply to root.
        let user = getuid() == 0 ? "setpriv --reuid=\(60_000 + getpid() % 5_000) --regid=60000 --clear-groups " : ""
        let limit = getuid() == 0 ? 2 : 1
        let script = "exec \(user)prlimit --nproc=\(limit) \"$0\" list"
        let outcome = try Fieldscribe(program: "sh", ["-c", script, try Fieldscribe.executable()], in: folder).wait()
        #expect(outcome.status == 1 && outcome.errors.count == 1, "\(outcome)")
        #expect(outcome.errors.first?.contains("ulimit -u") == true, "\(outcome)")
    }
}
