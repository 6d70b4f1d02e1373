import Testing
import TestKit

/// Tests packages that contain /bin/true in place of the program, because they are made quickly.
@Suite("The Debian package") struct PackageTests {
    private let folder = TemporaryFolder()

    private func makePackage(in name: String, _ options: String...) throws -> String {
        let output = folder.file(name)
        let tool = try Tool(
            [Repository.file("deploy/deb"), "--executable", "/bin/true", "--output", output] + options,
            environment: ["SOURCE_DATE_EPOCH": "1700000000"])
        #expect(tool.status == 0, "\(tool.errors)")
        return try "\(output)/\(Tool("ls", output).output.split(separator: "\n").joined())"
    }

    @Test("the package has the program's version and dependencies, and the configuration as a conffile")
    func control() throws {
        let package = try makePackage(in: "one")
        let version = try Tool(Repository.executable(), "--version").output.split(whereSeparator: \.isWhitespace)
            .dropFirst().first
        let control = try Tool("dpkg-deb", "--field", package).output
        #expect(control.contains("Version: \(version ?? "none")\n"))
        #expect(control.contains("Depends: libc6 (>="))
        #expect(control.contains("Recommends: pocketsphinx-en-us"))
        #expect(control.contains("Suggests: ") && control.contains("fieldscribe-moonshine-tiny-en"))
        let conffiles = try Tool("dpkg-deb", "--info", package, "conffiles").output
        #expect(conffiles == "/etc/fieldscribe/fieldscribe.conf\n")
        let contents = try Tool("dpkg-deb", "--contents", package).output.split(separator: "\n")
        #expect(contents.allSatisfy { $0.contains(" root/root ") && !$0.prefix(10).contains("s") })
        #expect(contents.contains { $0.hasSuffix("./usr/share/doc/fieldscribe/copyright") })
    }

    @Test("fieldscribe-office has its own package, and is not in the recorder's package")
    func office() throws {
        let package = try makePackage(in: "office", "--office")
        let control = try Tool("dpkg-deb", "--field", package).output
        #expect(control.contains("Package: fieldscribe-office\n") && control.contains("Depends: libc6 (>="))
        let contents = try Tool("dpkg-deb", "--contents", package).output.split(separator: "\n")
            .filter { !$0.hasSuffix("/") }.compactMap { $0.split(separator: " ").last.map(String.init) }
        #expect(
            contents.sorted() == [
                "./usr/bin/fieldscribe-office", "./usr/share/bash-completion/completions/fieldscribe-office",
                "./usr/share/doc/fieldscribe-office/changelog.gz", "./usr/share/doc/fieldscribe-office/copyright",
                "./usr/share/man/man1/fieldscribe-office.1.gz",
            ])
        #expect(try Tool("lintian", "--allow-root", "--fail-on", "error", package).status == 0)
        let recorder = try Tool("dpkg-deb", "--contents", makePackage(in: "recorder")).output
        #expect(recorder.contains("./usr/bin/fieldscribe\n") && !recorder.contains("office"))
        #expect(try !strings(in: Repository.executable()).contains("fieldscribe-office gather"))
        let needed = try Tool("readelf", "-d", Repository.executable()).output
        #expect(!needed.contains("libpq") && !needed.contains("libmicrohttpd"))
    }

    /// The printable strings in a program.
    private func strings(in program: String) throws -> String { try Tool("strings", program).output }

    @Test("the changelog is made from deploy/CHANGELOG.md")
    func changes() throws {
        let package = try makePackage(in: "one")
        let unpacked = folder.file("unpacked")
        #expect(try Tool("dpkg-deb", "--extract", package, unpacked).status == 0)
        let log = try Tool("zcat", "\(unpacked)/usr/share/doc/fieldscribe/changelog.gz").output.split(separator: "\n")
        let newest = try text(of: Repository.file("deploy/CHANGELOG.md")).split(separator: "\n")
            .drop { !$0.hasPrefix("## ") }.dropFirst().prefix { !$0.hasPrefix("## ") }
        #expect(log.first?.hasPrefix("fieldscribe (") == true)
        #expect(log.count { $0.hasPrefix("  * ") } == newest.count { $0.hasPrefix("- ") } && !newest.isEmpty)
        let words = try #require(newest.first).dropFirst(2).split(separator: " ").prefix(6).joined(separator: " ")
        #expect(log.contains { $0.hasPrefix("  * \(words)") })
        #expect(log.allSatisfy { $0.count <= 80 || $0.hasPrefix(" -- ") })
    }

    @Test("deploy/deb refuses an executable that loads libraries from its build folder")
    func runpath() throws {
        let source = folder.file("main.c")
        try write("int main(void) { return 0; }\n", to: source)
        for (path, isRefused) in [("/opt/builder/lib:$ORIGIN", true), ("$ORIGIN:/usr/lib/swift", false)] {
            let program = folder.file("program")
            #expect(try Tool("cc", "-Wl,-rpath,\(path)", "-o", program, source).status == 0)
            let tool = try Tool(
                [Repository.file("deploy/deb"), "--executable", program, "--output", folder.file("refused")],
                environment: ["SOURCE_DATE_EPOCH": "1700000000"])
            #expect(tool.status == (isRefused ? 1 : 0), "\(tool.errors)")
            #expect(tool.errors.contains("libraries in /opt/builder/lib, ") == isRefused, "\(tool.errors)")
        }
    }

    @Test(
        "the copyright file names the source package of every Debian library that the executable links",
        arguments: [("fieldscribe", "copyright"), ("fieldscribe-office", "office/copyright")])
    func copyright(program: String, file: String) throws {
        let copyright = try text(of: Repository.file("deploy/debian/\(file)"))
        let dynamic = try Tool("readelf", "-d", Repository.executable(program)).output
        let libraries = dynamic.split(separator: "\n").filter { $0.contains("(NEEDED)") }
            .compactMap { $0.split(separator: "[").last?.dropLast() }
        #expect(libraries.count > 5)
        for library in libraries {
            // On a build machine, the Swift runtime belongs to swiftlang or to no package. A release contains it.
            let owner = try Tool("dpkg-query", "--search", "*/\(library)").output.prefix { $0 != ":" }
            if owner.isEmpty || owner.contains("swiftlang") { continue }
            let source = try Tool("dpkg-query", "--show", "--showformat", "${source:Package}", "\(owner)").output
            let name = ["gcc", "postgresql"].first { source.hasPrefix("\($0)-") } ?? source
            #expect(!name.isEmpty && copyright.contains(" \(name)"), "\(library) is from \(source)")
        }
    }

    @Test("the package is reproducible")
    func reproducible() throws {
        let (package, rebuiltPackage) = (try makePackage(in: "one"), try makePackage(in: "two"))
        let cmp = try Tool("cmp", package, rebuiltPackage)
        #expect(cmp.status == 0 && cmp.output == "", "\(cmp.output)")
    }

    @Test("lintian finds no errors in the package")
    func lintian() throws {
        let tool = try Tool("lintian", "--allow-root", "--fail-on", "error", try makePackage(in: "one"))
        #expect(tool.status == 0, "\(tool.output)")
    }

    @Test(
        "the package's scripts pass shellcheck, and keep recordings by default",
        arguments: [
            "postinst", "prerm", "postrm", "moonshine-tiny-en/postinst", "moonshine-tiny-en/postrm",
        ])
    func scripts(name: String) throws {
        let path = Repository.file("deploy/debian/\(name)")
        let tool = try Tool("shellcheck", path)
        #expect(tool.output == "")
        for line in try text(of: path).split(separator: "\n") where line.contains("rm -rf /var/lib/fieldscribe") {
            #expect(name == "postrm" && line.hasPrefix("        "))
        }
    }
}
