import Testing
import TestKit

/// Tests when deploy/lib/debian.sh accepts the package indices of a Debian mirror. A script replaces apt-get.
@Suite("The indices of a mirror") struct MirrorTests {
    private let folder = TemporaryFolder()

    /// Runs `update_indices`, and returns the number of calls of apt-get. Each call runs `aptScript`, or succeeds if it
    /// ignores the expiry date.
    private func update(_ aptScript: String) throws -> (tool: Tool, calls: Int) {
        let script = """
            echo call >>'\(folder.file("calls"))'
            case "$*" in *Check-Valid-Until=false*) exit 0 ;; esac
            \(aptScript)
            """
        _ = try folder.program("bin/apt-get", script)
        try write("", to: folder.file("calls"))
        let tool = try Tool(
            "env", "PATH=\(folder.file("bin")):/usr/bin:/bin", "bash", "-euc",
            ". '\(Repository.file("deploy/lib/debian.sh"))'; update_indices '\(folder.path)'; echo \"frozen=${frozen[*]}\""
        )
        return (tool, try text(of: folder.file("calls")).split(separator: "\n").count)
    }

    private let expired =
        "echo 'E: Release file for https://x/InRelease is expired (invalid since 90d). Updates will not be applied.'"

    @Test("current indices are used")
    func current() throws {
        let (tool, calls) = try update("exit 0")
        #expect(tool.status == 0 && calls == 1 && tool.output == "frozen=\n")
    }

    @Test("expired indices are used and reported: the mirror is frozen")
    func frozen() throws {
        let (tool, calls) = try update("\(expired)\nexit 100")
        #expect(tool.status == 0 && calls == 2, "\(tool.errors)")
        #expect(tool.errors.contains("was frozen") && tool.output.contains("Check-Valid-Until"))
    }

    @Test("indices with any other fault are refused, even if they are also expired", arguments: [false, true])
    func otherFault(isExpired: Bool) throws {
        let unsigned = "echo 'E: The repository https://x InRelease is not signed.'"
        let (tool, calls) = try update("\(isExpired ? expired : "")\n\(unsigned)\nexit 100")
        #expect(tool.status != 0 && calls == 1, "\(tool.errors)")
    }

    @Test("only deploy/lib/debian.sh downloads indices or ignores their expiry date")
    func scripts() throws {
        let grep = try Tool(
            "grep", "-rnE", "Check-Valid-Until|dists/.*Packages", Repository.file("deploy"),
            Repository.file("Tests/Appliance"), Repository.file("Tests/Arm64"), Repository.file("Tests/lib"),
            "--exclude=CHANGELOG.md")
        let lines = grep.output.split(separator: "\n")
        #expect(lines.count == 3 && lines.allSatisfy { $0.contains("deploy/lib/debian.sh:") }, "\(grep.output)")
    }
}
