import Testing
import TestKit

/// Tests when scripts trust the package indices of a mirror of another Debian release. A script replaces apt-get.
@Suite("The indices of a mirror") struct MirrorTests {
    private let folder = TemporaryFolder()

    /// Runs `update_indices`. Its apt-get runs this script, but succeeds if it may ignore the date.
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
    func bad(isExpired: Bool) throws {
        let unsigned = "echo 'E: The repository https://x InRelease is not signed.'"
        let (tool, calls) = try update("\(isExpired ? expired : "")\n\(unsigned)\nexit 100")
        #expect(tool.status != 0 && calls == 1, "\(tool.errors)")
    }

    @Test("every script downloads indices with this function, and no script disables the check")
    func scripts() throws {
        let found = try Tool(
            "grep", "-rnE", "Check-Valid-Until|dists/.*Packages", Repository.file("deploy"),
            Repository.file("Tests/Appliance"), Repository.file("Tests/Arm64"), Repository.file("Tests/lib"),
            "--exclude=CHANGELOG.md")
        let lines = found.output.split(separator: "\n")
        #expect(lines.count == 3 && lines.allSatisfy { $0.contains("deploy/lib/debian.sh:") }, "\(found.output)")
    }
}
