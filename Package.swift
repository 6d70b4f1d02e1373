// swift-tools-version: 6.0
// The floor plan: one line a room, and what each room may use. Build with
// `--explicit-target-dependency-import-check error`, so that an arrow that is not drawn here does not compile.
import PackageDescription

/// A room of our own; `inside` is its folder under Sources when that is not its name. The files that it embeds are bytes
/// of its module.
func room(_ name: String, inside folder: String? = nil, uses: [String] = [], embeds files: [String] = []) -> Target {
    .target(
        name: name, dependencies: uses.map { .byName(name: $0) }, path: "Sources/\(folder ?? name)",
        resources: files.map { .embedInCode($0) })
}

/// A door to a C library that Debian provides.
func door(_ name: String, pkgConfig: String?, debian: String) -> Target {
    .systemLibrary(
        name: name, path: "Sources/CLibraries/\(name)", pkgConfig: pkgConfig, providers: [.apt([debian])])
}

/// A door that is a library of C of our own, with a header of what Swift sees, to a library whose versions differ.
func adapter(_ name: String, to library: String) -> Target {
    .target(name: name, dependencies: [.byName(name: library)], path: "Sources/CLibraries/\(name)")
}

/// The tests of one room.
func tests(_ name: String, of rooms: [String]) -> Target {
    .testTarget(name: name, dependencies: rooms.map { .byName(name: $0) }, path: "Tests/\(name)")
}

/// What the build is told of its sources; letters, digits and - alone, since it becomes a word of C. Empty: nothing.
let commit = String(
    (Context.environment["FIELDSCRIBE_COMMIT"] ?? "").filter {
        $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-")
    })

let package = Package(
    name: "fieldscribe",
    products: [
        .executable(name: "fieldscribe", targets: ["fieldscribe"]),
        // For a desk with copies of many recorders; the device has none of it.
        .executable(name: "fieldscribe-office", targets: ["fieldscribe-office"]),
        // Preloaded into the executable by tests, linked into nothing.
        .library(name: "FaultShim", type: .dynamic, targets: ["FaultShim"]),
    ],
    targets: [
        // Doors to C.
        // The commit for --version, which the scripts under deploy tell by the environment.
        .target(
            name: "CBuild", path: "Sources/CLibraries/CBuild", cSettings: [.define("FIELDSCRIBE_COMMIT", to: commit)]),
        door("CAlsa", pkgConfig: "alsa", debian: "libasound2-dev"),
        door("GpiodLibrary", pkgConfig: "libgpiod", debian: "libgpiod-dev"),
        adapter("CGpiod", to: "GpiodLibrary"),
        door("CInih", pkgConfig: "inih", debian: "libinih-dev"),
        door("CLinux", pkgConfig: nil, debian: "libc6-dev"),
        door("CMicrohttpd", pkgConfig: "libmicrohttpd", debian: "libmicrohttpd-dev"),
        door("CNettle", pkgConfig: "nettle", debian: "nettle-dev"),
        // Opened at run time: nothing of it is needed to build.
        .systemLibrary(name: "COnnxRuntime", path: "Sources/CLibraries/COnnxRuntime"),
        door("PocketSphinxLibrary", pkgConfig: "pocketsphinx", debian: "libpocketsphinx-dev"),
        adapter("CPocketSphinx", to: "PocketSphinxLibrary"),
        door("CSndfile", pkgConfig: "sndfile", debian: "libsndfile1-dev"),
        door("CSoxr", pkgConfig: "soxr", debian: "libsoxr-dev"),
        door("CPostgreSQL", pkgConfig: "libpq", debian: "libpq-dev"),
        door("CSQLite", pkgConfig: "sqlite3", debian: "libsqlite3-dev"),

        // The words of the domain, and the pure rooms.
        room("Core"),
        room("Segmenting", uses: ["Core"]),
        room("Stitching", uses: ["Core"]),
        room(
            "Exporting", uses: ["Core", "Digests"],
            embeds: [
                "shared.css", "player.css", "player.js", "editor.js", "keeping.js", "places.js", "arriving.js",
                "bridge.js",
                "index.css", "index.js", "served.css",
            ].map { "Pages/\($0)" }),
        room("Correcting", uses: ["Core", "Exporting"]),
        room("Panel", uses: ["Core"]),
        room("Diarizing", uses: ["Core"]),

        // The adapters.
        room("Platform", inside: "Devices/Platform", uses: ["Core", "CLinux"]),
        room("Resampling", inside: "Devices/Resampling", uses: ["Core", "CSoxr"]),
        room("AlsaMicrophone", inside: "Devices/AlsaMicrophone", uses: ["Core", "Platform", "Resampling", "CAlsa"]),
        room("Digests", inside: "Devices/Digests", uses: ["CNettle"]),
        room("AudioEncoder", inside: "Devices/AudioEncoder", uses: ["Core", "CSndfile"]),
        room("Sealing", inside: "Devices/Sealing", uses: ["Core", "Platform"]),
        room("FileMicrophone", inside: "Devices/FileMicrophone", uses: ["Core", "Platform", "Resampling", "CSndfile"]),
        room("GpioPanel", inside: "Devices/GpioPanel", uses: ["Core", "Platform", "Panel", "CGpiod"]),
        room(
            "PocketSphinxRecognizer", inside: "Devices/PocketSphinxRecognizer",
            uses: ["Core", "Platform", "Vocabulary", "CPocketSphinx"]),
        room(
            "Inference", inside: "Devices/Inference", uses: ["Core", "Platform", "Digests", "CLinux", "COnnxRuntime"]),
        room(
            "MoonshineRecognizer", inside: "Devices/MoonshineRecognizer",
            uses: ["Core", "Platform", "Inference", "COnnxRuntime"]),
        room(
            "VoiceEmbedding", inside: "Devices/VoiceEmbedding", uses: ["Core", "Platform", "Inference", "COnnxRuntime"]),
        room("WhisperRecognizer", inside: "Devices/WhisperRecognizer", uses: ["Core", "Platform"]),
        room("SQLite", inside: "Devices/SQLite", uses: ["Core", "CSQLite"]),
        room("SQLiteArchive", inside: "Devices/SQLiteArchive", uses: ["Core", "Platform", "Digests", "SQLite"]),

        room("Vocabulary", uses: ["Core", "Platform"]),

        // The stages that meet the disk and the processes.
        room("Recording", uses: ["Core", "Platform", "Digests"]),
        room("Recognizing", uses: ["Core", "Platform", "Segmenting", "Stitching"]),

        room(
            "Copying",
            uses: ["Core", "Platform", "Correcting", "Recording", "Exporting", "AudioEncoder", "Digests", "Sealing"]),

        // The archive of many recorders, and how copies come into it.
        room("Office", uses: ["Core", "Digests"]),
        room(
            "OfficePostgreSQL", inside: "Devices/OfficePostgreSQL",
            uses: ["Core", "Platform", "Digests", "Office", "CPostgreSQL"]),
        room("OfficeSQLite", inside: "Devices/OfficeSQLite", uses: ["Core", "Platform", "Office", "SQLite"]),
        room(
            "Gathering",
            uses: [
                "Core", "Platform", "AudioEncoder", "Copying", "Correcting", "Digests", "Exporting", "Office",
                "Recording", "SQLiteArchive", "Sealing",
            ]),

        // The same in a browser.
        room("Serving", uses: ["Core", "Platform", "Correcting", "Digests", "Exporting", "Gathering", "Office"]),
        room(
            "WebServer", inside: "Devices/WebServer", uses: ["Core", "Platform", "Serving", "CLinux", "CMicrohttpd"]),

        // What is wanted, and what there is for it.
        room("Configuration", uses: ["Core", "Platform", "Segmenting", "Exporting", "Panel", "CInih"]),
        room(
            "Equipment",
            uses: [
                "Core", "Platform", "Configuration", "Segmenting", "Recognizing", "Exporting", "Vocabulary", "Digests",
                "AlsaMicrophone", "FileMicrophone", "MoonshineRecognizer", "PocketSphinxRecognizer",
                "Sealing", "VoiceEmbedding", "WhisperRecognizer",
            ]),

        // The house's services, and the house itself.
        room("Control", uses: ["Core", "Platform", "Configuration", "Exporting", "Panel", "CLinux"]),
        room(
            "Doctor",
            uses: [
                "Core", "Platform", "Configuration", "Copying", "Equipment", "Control", "Segmenting", "Recognizing",
                "Panel", "AlsaMicrophone", "FileMicrophone", "GpioPanel", "Sealing", "VoiceEmbedding",
            ]),
        room(
            "Upkeep",
            uses: [
                "Core", "Platform", "Configuration", "Copying", "AudioEncoder", "Equipment", "Recording", "Recognizing",
                "SQLiteArchive", "CLinux", "Correcting", "Diarizing", "Digests", "Exporting", "FileMicrophone",
                "PocketSphinxRecognizer", "Sealing", "VoiceEmbedding", "Vocabulary",
            ]),
        room(
            "Appliance",
            uses: [
                "Core", "Platform", "Configuration", "Equipment", "Control", "Upkeep", "Recording", "Recognizing",
                "Panel", "GpioPanel", "SQLiteArchive", "CLinux", "Exporting", "Sealing",
            ]),

        // Its front doors, and what both have in common.
        room("Commands", uses: ["Core", "Platform", "Exporting", "CBuild"]),
        .executableTarget(
            name: "fieldscribe",
            dependencies: [
                "Core", "Platform", "Panel", "Recording", "Recognizing", "Exporting", "AudioEncoder", "Copying",
                "Digests", "FileMicrophone", "PocketSphinxRecognizer", "SQLiteArchive", "Vocabulary", "Configuration",
                "Equipment", "Control", "Correcting", "Doctor", "Upkeep", "Appliance", "Sealing",
                "VoiceEmbedding", "Commands",
            ],
            path: "Sources/fieldscribe"),

        .executableTarget(
            name: "fieldscribe-office",
            dependencies: [
                "Core", "Platform", "Commands", "Correcting", "Exporting", "Gathering", "Office",
                "OfficePostgreSQL",
                "OfficeSQLite", "Serving", "WebServer",
            ],
            path: "Sources/fieldscribe-office"),

        // Stand-ins, tests, measurements.
        .executableTarget(
            name: "benchmark",
            dependencies: [
                "Core", "Platform", "Segmenting", "Recognizing", "Exporting", "FileMicrophone", "MoonshineRecognizer",
                "PocketSphinxRecognizer", "SQLiteArchive", "CSQLite", "Configuration", "Correcting", "Diarizing",
                "Copying", "Digests", "Equipment", "Sealing", "VoiceEmbedding",
                "TestKit", "Upkeep", "Vocabulary", "fieldscribe",
            ],
            path: "Tests/Benchmark",
            exclude: ["README.md", "moonshine-voice.py", "office", "slow-stick", "sync-costs"]),
        .target(name: "FaultShim", path: "Tests/FaultShim", linkerSettings: [.linkedLibrary("dl")]),
        .executableTarget(
            name: "chaos", dependencies: ["Core", "Platform", "CSQLite", "TestKit", "fieldscribe"], path: "Tests/Chaos",
            exclude: ["run"]),
        tests("PanelTests", of: ["Core", "GpioPanel", "Panel", "TestKit"]),
        tests(
            "ConfigurationTests",
            of: [
                "Core", "Platform", "Segmenting", "Panel", "Configuration", "Equipment", "TestKit", "fieldscribe",
            ]),
        tests(
            "MicrophoneTests",
            of: ["Core", "Platform", "Resampling", "AlsaMicrophone", "FileMicrophone", "CSndfile", "TestKit"]),
        room("TestKit", uses: ["Core", "Platform"]),
        tests(
            "ApplianceTests",
            of: [
                "Core", "Platform", "Panel", "SQLiteArchive", "PocketSphinxRecognizer", "Recognizing", "Configuration",
                "Equipment", "Control", "Upkeep", "Appliance", "TestKit",
            ]),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "Commands", "Control", "Core", "Platform", "Recognizing", "PocketSphinxRecognizer", "TestKit",
                "fieldscribe",
            ],
            path: "Tests/EndToEndTests", exclude: ["random-whisper-model", "elan.py"]),
        tests(
            "DeployTests",
            of: [
                "Core", "Segmenting", "Exporting", "Configuration", "Equipment", "Doctor", "TestKit", "fieldscribe",
                "fieldscribe-office",
            ]),
        .testTarget(
            name: "RecognizingTests",
            dependencies: ["Core", "Platform", "Recognizing", "FileMicrophone", "PocketSphinxRecognizer", "TestKit"],
            path: "Tests/RecognizingTests",
            exclude: ["worker.py"]),
        tests(
            "MoonshineRecognizerTests",
            of: ["Core", "Digests", "Inference", "Platform", "FileMicrophone", "MoonshineRecognizer", "TestKit"]),
        tests("DiarizingTests", of: ["Core", "Diarizing", "Platform", "VoiceEmbedding", "TestKit"]),
        tests("VocabularyTests", of: ["Core", "Vocabulary", "PocketSphinxRecognizer", "TestKit"]),
        tests("SegmentingTests", of: ["Core", "Segmenting", "TestKit"]),
        tests("StitchingTests", of: ["Core", "Stitching", "TestKit"]),
        tests("PlatformTests", of: ["Core", "Platform", "TestKit"]),
        tests(
            "RecordingTests",
            of: ["Core", "Platform", "Recording", "SQLiteArchive", "Configuration", "Appliance", "TestKit"]),
        .testTarget(
            name: "ExportingTests", dependencies: ["Core", "Exporting", "TestKit"], path: "Tests/ExportingTests",
            exclude: ["elan.py"]),
        .testTarget(
            name: "PageTests", dependencies: ["Core", "Exporting", "TestKit"], path: "Tests/PageTests",
            exclude: ["browser.py", "editing.py", "firefox.py"]),
        tests(
            "CopyingTests",
            of: [
                "Core", "Platform", "Recording", "Exporting", "AudioEncoder", "Copying", "Digests", "Sealing",
                "TestKit",
            ]),
        tests("CorrectingTests", of: ["Core", "Correcting", "Exporting"]),
        .testTarget(
            name: "OfficeTests",
            dependencies: [
                "Core", "Platform", "AudioEncoder", "Copying", "Exporting", "Sealing", "Office", "OfficePostgreSQL",
                "OfficeSQLite", "Gathering", "Serving", "WebServer",
                "TestKit", "fieldscribe-office",
            ],
            path: "Tests/OfficeTests", exclude: ["serving.py", "relay.py"]),
        tests("SQLiteArchiveTests", of: ["Core", "Digests", "SQLite", "SQLiteArchive", "TestKit"]),
        tests(
            "RecoveryTests",
            of: [
                "Core", "Platform", "Correcting", "Recognizing", "Recording", "Exporting", "SQLite", "SQLiteArchive",
                "Configuration",
                "Copying", "Equipment", "Sealing",
                "Upkeep", "Vocabulary", "Appliance", "TestKit", "fieldscribe",
            ]),
    ],
    swiftLanguageModes: [.v6]
)

// With FIELDSCRIBE_QUICK, a release build optimizes only what tests and the demo spend their time in. The rest compiles three times
// as fast.
if Context.environment["FIELDSCRIBE_QUICK"] != nil {
    let optimized: Set = [
        "Core", "Segmenting", "Stitching", "Diarizing", "Correcting", "Resampling", "Recognizing", "Vocabulary",
        "PocketSphinxRecognizer", "MoonshineRecognizer", "VoiceEmbedding", "TestKit",
    ]
    for target in package.targets where target.type != .system && !optimized.contains(target.name) {
        target.swiftSettings = [.unsafeFlags(["-Onone"])]
    }
}

// With FIELDSCRIBE_TARGETS, only those targets and what they use: the thread sanitizer's tree needs no more.
if let wanted = Context.environment["FIELDSCRIBE_TARGETS"] {
    var reached: Set<String> = []
    var pending = wanted.split(separator: " ").map(String.init)
    while let name = pending.popLast() {
        guard reached.insert(name).inserted else { continue }
        let target = package.targets.first { $0.name == name }
        for case .byNameItem(let used, _) in target?.dependencies ?? [] { pending.append(used) }
    }
    package.targets.removeAll { !reached.contains($0.name) }
    package.products = []
}
