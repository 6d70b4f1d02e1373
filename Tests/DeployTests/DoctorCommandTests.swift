import FoundationEssentials
import Testing
import TestKit

@testable import Appliance
@testable import Core

@Suite("fieldscribe doctor") struct DoctorCommandTests {
    private struct Report: Decodable {
        struct Finding: Decodable {
            var check: String
            var status: String
            var message: String
            var remedy: String?
        }
        var findings: [Finding]
        var measurements: [String: Double]
        var exitStatus: Int32
    }

    private let folder = TemporaryFolder()

    private func examine(_ configuration: String) throws -> (status: Int32, report: Report) {
        let path = folder.file("fieldscribe.conf")
        try write("\(configuration)\n[storage]\ndirectory = \(folder.path)/archive\n", to: path)
        let tool = try Tool(Repository.executable(), "doctor", "--json", "--config", path)
        return (tool.status, try JSONDecoder().decode(Report.self, from: Data(tool.output.utf8)))
    }

    @Test("doctor measures a simulated microphone, the real model and the real disk, and leaves no files")
    func measures() throws {
        let (status, report) = try examine("[capture]\ndevice = tone:440\n[panel]\nbutton = sim:\nlamp = none")
        let problems = report.findings.filter { $0.status == "failed" || $0.status == "missing" }
        // The test machine may have these problems.
        #expect(problems.allSatisfy { ["permissions", "board", "disk"].contains($0.check) }, "\(problems)")
        #expect(status == report.exitStatus)
        // A sine wave with its peaks at -20 dBFS.
        #expect(abs((report.measurements["microphone.rms"] ?? 0) + 23.01) < 0.1)
        #expect(abs((report.measurements["microphone.peak"] ?? 0) + 20) < 0.1)
        #expect(report.measurements["decoder.timesRealTime"] ?? 0 > 0)
        #expect(report.measurements["disk.syncWorstSeconds"] ?? 0 > 0)
        #expect(try Tool("ls", "-A", folder.path).output == "fieldscribe.conf\n")
    }

    @Test("doctor continues after an invalid setting and missing devices, and exits with 3")
    func missing() throws {
        let (status, report) = try examine(
            "[capture]\nrate = 9\n[recognizer]\nmodel = /no/such/model\n[panel]\nbutton = gpio:NO_SUCH_LINE")
        #expect(status == 3)
        #expect(report.findings.contains { $0.check == "configuration" && $0.message.contains("fieldscribe.conf:2:") })
        #expect(report.findings.allSatisfy { ["ok", "notice"].contains($0.status) || $0.remedy != nil })
    }

    @Test("doctor names a missing model")
    func model() throws {
        let (status, report) = try examine("[recognizer]\nmodel = /no/such/model\n[panel]\nbutton = none\nlamp = none")
        #expect(status == 3)
        let finding = try #require(report.findings.first { $0.check == "model" })
        #expect(finding.status == "missing" && finding.message.contains("/no/such/model"))
    }

    @Test("the ports that can act as a USB drive come from the kernel's list; a missing mkfs.vfat is reported")
    func drivePorts() throws {
        for name in ["bin", "sys/class/udc/fe980000.usb", "sys/class/udc/dummy_udc.0"] {
            try FileManager.default.createDirectory(atPath: folder.file(name), withIntermediateDirectories: true)
        }
        let ports = { doctorDrivePorts(system: folder.file("sys"), programs: [folder.file("bin")]) }
        guard case .failure(let error) = ports() else {
            Issue.record("no error, although mkfs.vfat is missing")
            return
        }
        #expect(error.code == .missing && error.message.contains("apt install dosfstools"))
        #expect(
            FileManager.default.createFile(
                atPath: folder.file("bin/mkfs.vfat"), contents: nil, attributes: [.posixPermissions: 0o755]))
        #expect(try ports().get() == ["dummy_udc.0", "fe980000.usb"])
        #expect(try doctorDrivePorts(system: folder.file("none"), programs: [folder.file("bin")]).get() == [])
    }

    @Test("files in an archive that others may read are found, unless the mode of its folder prevents access")
    func readable() throws {
        let folder = TemporaryFolder()
        for (mode, name) in [("600", "archive.sqlite"), ("644", "history.jsonl"), ("640", "signing.pub")] {
            #expect(try Tool("install", "-m", mode, "/dev/null", folder.file(name)).status == 0)
        }
        #expect(try Tool("install", "-d", "-m", "750", folder.file("recordings")).status == 0)
        for (mode, expected) in [
            ("755", ["history.jsonl", "recordings"]), ("710", ["history.jsonl", "recordings"]), ("700", []),
        ] {
            #expect(try Tool("chmod", mode, folder.path).status == 0)
            #expect(doctorReadable(folder.path) == expected, "\(mode)")
        }
        #expect(doctorReadable(folder.file("none")) == [])
    }
}
