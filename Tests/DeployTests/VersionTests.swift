import Testing
import TestKit

/// The version and commit in a build.
@Suite("The version") struct VersionTests {
    private let folder = TemporaryFolder()

    /// The commit that deploy's scripts pass to a build in that folder.
    private func commit(in place: String) throws -> String {
        let script = "cd '\(place)' && . '\(Repository.file("deploy/lib/packages.sh"))' && source_commit"
        let tool = try Tool("bash", "-euc", script)
        #expect(tool.status == 0 && tool.errors == "")
        return tool.output
    }

    @Test("the executable prints its version, and its commit if known")
    func executable() throws {
        let output = try Tool(Repository.executable(), "--version").output
        #expect(
            try output.wholeMatch(
                of: Regex(#"fieldscribe \d+\.\d+\.\d+ \(commit (unknown|[0-9a-f]{7,40}(-dirty)?)\)\n"#)) != nil)
    }

    @Test("a build gets the commit of its own repository, and whether files differ from it")
    func repository() throws {
        let place = "\(folder.path)/sources"
        let made = try Tool(
            "sh", "-euc",
            """
            mkdir '\(place)' && cd '\(place)' && git init -q && echo one >file && git add file
            git -c user.name=x -c user.email=x -c commit.gpgsign=false commit -qm one
            mkdir within
            """)
        #expect(made.status == 0, "\(made.errors)")
        let head = try Tool("git", "-C", place, "rev-parse", "--short=12", "HEAD").output
        #expect(try commit(in: place) == head && head.count == 13)
        // A tarball unpacked inside another repository does not belong to it.
        #expect(try commit(in: "\(place)/within") == "")
        try write("two", to: "\(place)/file")
        #expect(try commit(in: place) == head.dropLast() + "-dirty\n")
    }

    @Test("outside a repository there is no commit and no error")
    func tarball() throws {
        #expect(try commit(in: folder.path) == "")
    }
}
