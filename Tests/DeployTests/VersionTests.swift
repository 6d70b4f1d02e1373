import Testing
import TestKit

/// Tests the version and the commit in a build.
@Suite("The version") struct VersionTests {
    private let folder = TemporaryFolder()

    /// The commit that the scripts in deploy pass to a build in this folder.
    private func commit(in path: String) throws -> String {
        let script = "cd '\(path)' && . '\(Repository.file("deploy/lib/packages.sh"))' && source_commit"
        let tool = try Tool("bash", "-euc", script)
        #expect(tool.status == 0 && tool.errors == "")
        return tool.output
    }

    @Test("the executable prints its version, and its commit if it is known")
    func executable() throws {
        let output = try Tool(Repository.executable(), "--version").output
        #expect(
            try output.wholeMatch(
                of: Regex(#"fieldscribe \d+\.\d+\.\d+ \(commit (unknown|[0-9a-f]{7,40}(-dirty)?)\)\n"#)) != nil)
    }

    @Test("a build contains the commit of its own repository, with -dirty if files differ from it")
    func repository() throws {
        let sources = "\(folder.path)/sources"
        let git = try Tool(
            "sh", "-euc",
            """
            mkdir '\(sources)' && cd '\(sources)' && git init -q && echo one >file && git add file
            git -c user.name=x -c user.email=x -c commit.gpgsign=false commit -qm one
            mkdir inside
            """)
        #expect(git.status == 0, "\(git.errors)")
        let head = try Tool("git", "-C", sources, "rev-parse", "--short=12", "HEAD").output
        #expect(try commit(in: sources) == head && head.count == 13)
        // An unpacked tarball inside a repository does not belong to that repository.
        #expect(try commit(in: "\(sources)/inside") == "")
        try write("two", to: "\(sources)/file")
        #expect(try commit(in: sources) == head.dropLast() + "-dirty\n")
    }

    @Test("outside a repository there is no commit and no error")
    func tarball() throws {
        #expect(try commit(in: folder.path) == "")
    }
}
