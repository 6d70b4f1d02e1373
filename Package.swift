// swift-tools-version: 6.0
// From the bottom up: C libraries, pure modules, modules with I/O, programs, tests. Build with
// `--explicit-target-dependency-import-check error`, so that an import that is not listed here does not compile.
import PackageDescription

/// Returns a target for a module in Sources that has a README.
func module(_ name: String, uses: [String] = [], excluding files: [String] = []) -> Target {
    .target(
        name: name, dependencies: uses.map { .byName(name: $0) }, path: "Sources/\(name)",
        exclude: ["README.md"] + files)
}

/// Returns a target for a C library from a Debian package.
func system(_ name: String, pkgConfig: String?, debian: String) -> Target {
    .systemLibrary(
        name: name, path: "Sources/CLibraries/\(name)", pkgConfig: pkgConfig, providers: [.apt([debian])])
}

/// Returns a target for a C shim that hides the differences between versions of a library.
func shim(_ name: String, over library: String) -> Target {
    .target(name: name, dependencies: [.byName(name: library)], path: "Sources/CLibraries/\(name)")
}

func tests(_ name: String, of modules: [String], excluding files: [String] = []) -> Target {
    .testTarget(
        name: name, dependencies: modules.map { .byName(name: $0) } + ["TestKit"], path: "Tests/\(name)", exclude: files
    )
}

/// The commit that `--version` prints. It is passed to C as a macro, so only letters, digits and - are allowed.
let commit = String(
    (Context.environment["FIELDSCRIBE_COMMIT"] ?? "").filter {
        $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-")
    })

let package = Package(
    name: "fieldscribe",
    products: [
        .executable(name: "fieldscribe", targets: ["fieldscribe"]),
        .library(name: "Speech", targets: ["Speech"]),
        // For an office with copies from many recorders; not installed on the device.
        .executable(name: "fieldscribe-office", targets: ["fieldscribe-office"]),
        // Tests preload it into the executable; no product links it.
        .library(name: "FaultShim", type: .dynamic, targets: ["FaultShim"]),
    ],
    targets: [
        // C libraries.
        .target(
            name: "CBuild", path: "Sources/CLibraries/CBuild", cSettings: [.define("FIELDSCRIBE_COMMIT", to: commit)]),
        system("CAlsa", pkgConfig: "alsa", debian: "libasound2-dev"),
        system("GpiodLibrary", pkgConfig: "libgpiod", debian: "libgpiod-dev"),
        shim("CGpiod", over: "GpiodLibrary"),
        system("CInih", pkgConfig: "inih", debian: "libinih-dev"),
        system("CLinux", pkgConfig: nil, debian: "libc6-dev"),
        system("CMicrohttpd", pkgConfig: "libmicrohttpd", debian: "libmicrohttpd-dev"),
        system("CNettle", pkgConfig: "nettle", debian: "nettle-dev"),
        // Embeds the style sheets and scripts of the modules that write pages.
        .target(
            name: "CPages", path: "Sources/CLibraries/CPages",
            cSettings: [.headerSearchPath("../../Transcripts/Page/Files"), .headerSearchPath("../../Office/Pages")]),
        // Loaded at run time: the library is not needed for building.
        .systemLibrary(name: "COnnxRuntime", path: "Sources/CLibraries/COnnxRuntime"),
        system("PocketSphinxLibrary", pkgConfig: "pocketsphinx", debian: "libpocketsphinx-dev"),
        shim("CPocketSphinx", over: "PocketSphinxLibrary"),
        system("CSndfile", pkgConfig: "sndfile", debian: "libsndfile1-dev"),
        system("CSoxr", pkgConfig: "soxr", debian: "libsoxr-dev"),
        system("CPostgreSQL", pkgConfig: "libpq", debian: "libpq-dev"),
        system("CSQLite", pkgConfig: "sqlite3", debian: "libsqlite3-dev"),

        // No I/O, no clock, no thread, no C.
        module("Core"),
        // Linux; knows nothing about recordings.
        module("System", uses: ["Core", "CBuild", "CLinux", "CNettle"]),
        // Text to and from a timeline; no I/O.
        module("Transcripts", uses: ["Core", "System", "CPages"], excluding: ["Page/Files"]),

        // Never waits for transcription.
        module("Audio", uses: ["Core", "System", "CAlsa", "CSndfile", "CSoxr"]),
        // Engines run in worker processes.
        module("Recognition", uses: ["Core", "System", "Audio", "CLinux", "COnnxRuntime", "CPocketSphinx"]),
        // The library for other programs; independent of the recorder.
        module("Speech", uses: ["Core", "System", "Audio", "Recognition"]),
        // A write is on the disk when it returns.
        module("Archive", uses: ["Core", "System", "CSQLite"]),
        // A copy with its final name is complete.
        module("Copying", uses: ["Core", "System", "Transcripts", "Audio"]),
        // The only module that chooses an engine or a device.
        module("Settings", uses: ["Core", "System", "Transcripts", "Audio", "Recognition", "Copying", "CInih"]),
        // Jobs that process recordings; each can be cancelled at any time.
        module(
            "Maintenance",
            uses: [
                "Core", "System", "Transcripts", "Audio", "Recognition", "Archive", "Copying", "Settings", "CLinux",
            ]),
        // The recorder: one state machine owns the state.
        module(
            "Appliance",
            uses: [
                "Core", "System", "Transcripts", "Audio", "Recognition", "Archive", "Copying", "Settings",
                "Maintenance", "CGpiod", "CLinux",
            ]),
        .executableTarget(
            name: "fieldscribe",
            dependencies: [
                "Core", "System", "Transcripts", "Audio", "Recognition", "Archive", "Copying", "Settings",
                "Maintenance", "Appliance",
            ],
            path: "Sources/fieldscribe"),

        // The archive for many recorders.
        module(
            "Office",
            uses: [
                "Core", "System", "Transcripts", "Audio", "Archive", "Copying", "CLinux", "CMicrohttpd", "CPages",
                "CPostgreSQL",
            ],
            excluding: ["Pages/served.css", "Pages/adding.js"]),
        .executableTarget(
            name: "fieldscribe-office", dependencies: ["Core", "System", "Transcripts", "Office"],
            path: "Sources/fieldscribe-office"),

        // Tests and measurements.
        .target(name: "TestKit", dependencies: ["Core", "System"], path: "Sources/TestKit"),
        .executableTarget(
            name: "benchmark",
            dependencies: [
                "Core", "System", "Transcripts", "Audio", "Recognition", "Archive", "Copying", "Settings",
                "Maintenance", "Speech", "TestKit", "CSQLite", "fieldscribe",
            ],
            path: "Tests/Benchmark",
            exclude: ["README.md", "moonshine-voice.py", "office", "slow-stick", "sync-costs"]),
        .target(name: "FaultShim", path: "Tests/FaultShim", linkerSettings: [.linkedLibrary("dl")]),
        .executableTarget(
            name: "chaos", dependencies: ["Core", "System", "CSQLite", "TestKit", "fieldscribe"], path: "Tests/Chaos",
            exclude: ["run"]),
        tests("PanelTests", of: ["Core", "Appliance"]),
        tests("SegmentingTests", of: ["Core"]),
        tests("StitchingTests", of: ["Core"]),
        tests("PlatformTests", of: ["Core", "System"]),
        tests("ExportingTests", of: ["Core", "Transcripts"], excluding: ["elan.py", "word.py"]),
        tests("PageTests", of: ["Core", "Transcripts"], excluding: ["browser.py", "editing.py", "firefox.py"]),
        tests("CorrectingTests", of: ["Core", "Transcripts"]),
        tests("MicrophoneTests", of: ["Core", "System", "Audio", "CSndfile"]),
        tests("RecordingTests", of: ["Core", "System", "Audio"]),
        tests("RecognizingTests", of: ["Core", "System", "Audio", "Recognition"], excluding: ["worker.py"]),
        tests("MoonshineRecognizerTests", of: ["Core", "System", "Audio", "Recognition"]),
        tests("SpeechTests", of: ["Core", "System", "Audio", "Recognition", "Speech", "fieldscribe"]),
        tests("DiarizingTests", of: ["Core", "System", "Recognition"]),
        tests("VocabularyTests", of: ["Core", "Recognition"]),
        tests("BenchmarkTests", of: ["Core", "System", "benchmark"]),
        tests("SQLiteArchiveTests", of: ["Core", "System", "Archive"], excluding: ["schema-11.sql"]),
        tests("CopyingTests", of: ["Core", "System", "Transcripts", "Audio", "Copying"]),
        tests("ConfigurationTests", of: ["Core", "System", "Settings", "fieldscribe"]),
        tests(
            "RecoveryTests",
            of: [
                "Core", "System", "Transcripts", "Audio", "Recognition", "Archive", "Copying", "Settings",
                "Maintenance", "Appliance", "fieldscribe",
            ]),
        tests(
            "ApplianceTests",
            of: ["Core", "System", "Audio", "Recognition", "Archive", "Settings", "Maintenance", "Appliance"]),
        tests(
            "OfficeTests",
            of: ["Core", "System", "Transcripts", "Audio", "Copying", "Office", "fieldscribe", "fieldscribe-office"],
            excluding: ["serving.py", "relay.py"]),
        tests(
            "DeployTests",
            of: ["Core", "Transcripts", "Settings", "Appliance", "fieldscribe", "fieldscribe-office"]),
        tests(
            "EndToEndTests", of: ["Core", "System", "Transcripts", "Recognition", "Appliance", "fieldscribe"],
            excluding: ["random-whisper-model", "elan.py"]),
    ],
    swiftLanguageModes: [.v6]
)

// With FIELDSCRIBE_QUICK=1, a release build optimizes only the modules in which tests and the demo spend their time.
// Other values list the modules to optimize. The other modules compile three times as fast.
if let quick = Context.environment["FIELDSCRIBE_QUICK"] {
    let quickModules = "Core Transcripts Recognition TestKit"
    let optimized = (quick == "1" ? quickModules : quick).split(separator: " ").map(String.init)
    for target in package.targets where target.type != .system && !optimized.contains(target.name) {
        target.swiftSettings = [.unsafeFlags(["-Onone"])]
    }
}

// FIELDSCRIBE_TARGETS, which the thread sanitizer build uses, reduces the package to the listed targets and what they
// depend on.
if let requested = Context.environment["FIELDSCRIBE_TARGETS"] {
    var reached: Set<String> = []
    var pending = requested.split(separator: " ").map(String.init)
    while let name = pending.popLast() {
        guard reached.insert(name).inserted else { continue }
        let target = package.targets.first { $0.name == name }
        for case .byNameItem(let used, _) in target?.dependencies ?? [] { pending.append(used) }
    }
    package.targets.removeAll { !reached.contains($0.name) }
    package.products = []
}
