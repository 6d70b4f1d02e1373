import Core
import Glibc
import Recognition
import System

/// The program to measure, its models, and the folder for the files that measurements create.
struct Harness {
    let folder: String
    let fieldscribe: String
    /// The folder with Moonshine's model; nil to skip Moonshine.
    let model: String?
    /// Whisper's model, and the configuration file that selects it; nil to skip Whisper.
    let whisper: (model: WhisperModel, configuration: String)?

    /// - Parameters:
    ///   - program: the executable to measure; nil for the one that was built with this benchmark.
    ///   - model: a folder made by `deploy/model moonshine-tiny-en --folder DIR`; nil for FIELDSCRIBE_TEST_MODEL.
    init(program: String? = nil, model: String? = nil) throws {
        self.model = model ?? environmentVariable("FIELDSCRIBE_TEST_MODEL")
        folder = (environmentVariable("TMPDIR") ?? "/tmp") + "/fieldscribe-benchmark"
        try makeFolder(folder)
        fieldscribe = try program ?? Self.executable()
        if let path = environmentVariable("FIELDSCRIBE_TEST_WHISPER"), WhisperModel.program != nil {
            let configuration = "\(folder)/whisper.conf"
            try durableReplace(path: configuration, with: "[recognizer]\nwhisper-model = \(path)\n")
            whisper = (WhisperModel(path: path), configuration)
        } else {
            whisper = nil
        }
    }

    /// Transcribes files like `transcribe(_:by:jobs:into:samplingMemory:options:)`, with a profile of PocketSphinx.
    func transcribe(
        _ paths: [String], profile: String, jobs: Int = 1, into name: String, samplingMemory: Bool = false,
        options: [String] = []
    ) throws -> (transcripts: [String: TranscriptFile], cost: MeasuredProcess) {
        let contender = Contender(name: profile, kind: .pocketSphinx, profile: profile)
        return try transcribe(
            paths, by: contender, jobs: jobs, into: name, samplingMemory: samplingMemory, options: options)
    }

    /// Transcribes files to JSON files in the folder `name`; returns the transcripts by file name, and the cost.
    func transcribe(
        _ paths: [String], by contender: Contender, jobs: Int = 1, into name: String, samplingMemory: Bool = false,
        options: [String] = []
    ) throws -> (transcripts: [String: TranscriptFile], cost: MeasuredProcess) {
        // Shows earlier output while the program runs.
        fflush(nil)
        let output = "\(folder)/\(name)"
        let cost = try MeasuredProcess(
            [
                fieldscribe, "transcribe", "--jobs", "\(jobs)", "--pass", contender.profile, "--alternatives", "0",
                "--format", "json", "--output", output,
            ] + contender.options(in: self) + options + paths, environment: contender.environment(in: self),
            samplingMemory: samplingMemory)
        guard cost.status == 0 else {
            throw DeviceError(.failed, "benchmark", "transcribe with \(contender.name) failed; run it by hand")
        }
        var transcripts: [String: TranscriptFile] = [:]
        for path in paths {
            let file = String(path.split(separator: "/").last?.prefix { $0 != "." } ?? "")
            transcripts[file] = try decoded(TranscriptFile.self, from: "\(output)/\(file).json")
        }
        return (transcripts, cost)
    }

    /// Records without transcribing.
    ///
    /// - Parameter seconds: the duration; nil to record a file until it ends.
    /// - Throws: `DeviceError` with the command line if recording fails.
    func record(_ microphone: String, seconds: Int? = nil, into storage: String) throws {
        try MeasuredProcess.succeeding(
            [fieldscribe, "record", "--audio-only", "--microphone", microphone, "--directory", storage]
                + (seconds.map { ["--seconds", "\($0)"] } ?? []))
    }

    /// Runs `pocketsphinx_continuous` on one file.
    func runPocketSphinxContinuous(_ path: String, into name: String = "peer.txt") throws -> (
        text: String, cost: MeasuredProcess
    ) {
        let output = "\(folder)/\(name)"
        let cost = try MeasuredProcess(["pocketsphinx_continuous", "-infile", path], output: output)
        guard cost.status == 0 else {
            throw DeviceError(.missing, "benchmark", "pocketsphinx_continuous failed; install pocketsphinx")
        }
        return (try lines(output).joined(separator: " "), cost)
    }

    /// Returns the Python interpreter of a virtual environment with Moonshine's own package. Creates the environment
    /// the first time.
    ///
    /// - Throws: `DeviceError` with `missing` if the package cannot be installed.
    func moonshineVoicePython() throws -> String {
        let caches = environmentVariable("XDG_CACHE_HOME") ?? "\(environmentVariable("HOME") ?? "/tmp")/.cache"
        let cache = "\(caches)/fieldscribe-benchmark"
        try makeFolder(cache)
        let (environment, python) = ("\(cache)/moonshine-voice", "\(cache)/moonshine-voice/bin/python3")
        if access(python, X_OK) == 0, try MeasuredProcess([python, "-c", "import moonshine_voice"]).status == 0 {
            return python
        }
        let pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "moonshine-voice==0.0.73"]
        guard try MeasuredProcess(["python3", "-m", "venv", environment]).status == 0,
            try MeasuredProcess(pip).status == 0,
            try MeasuredProcess([python, "-c", "import moonshine_voice"]).status == 0
        else {
            throw DeviceError(.missing, "pip", "moonshine-voice 0.0.73 cannot be installed into \(environment)")
        }
        return python
    }

    /// Runs Moonshine's own Python package on all files, in one process.
    func runMoonshineVoice(_ paths: [String]) throws -> (texts: [String: String], cost: MeasuredProcess) {
        let (python, output) = (try moonshineVoicePython(), "\(folder)/\(Contender.moonshineVoice).tsv")
        let cost = try MeasuredProcess(
            [python, "Tests/Benchmark/moonshine-voice.py"] + paths, output: output, samplingMemory: true)
        guard cost.status == 0 else {
            throw DeviceError(.failed, "benchmark", "moonshine-voice.py failed; run it by hand with \(python)")
        }
        let rows = try lines(output).map {
            $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        }
        return (Dictionary(rows.map { ($0[0], $0.count > 1 ? $0[1] : "") }) { $1 }, cost)
    }

    /// Compiles a library for `LD_PRELOAD` that simulates a board with 512 MB of memory, and returns its path. On such
    /// a board, Linux reports about 460 MB.
    func compileSmallBoardLibrary() throws -> String {
        let (source, library) = ("\(folder)/small-board.c", "\(folder)/small-board.so")
        try durableReplace(path: source, with: Self.smallBoardSource)
        guard try MeasuredProcess(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"]).status == 0 else {
            throw DeviceError(.missing, "cc", "\(source) cannot be compiled; install gcc")
        }
        return library
    }

    private static let smallBoardSource = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <unistd.h>
        long sysconf(int name) {
            long (*next)(int) = (long (*)(int))dlsym(RTLD_NEXT, "sysconf");
            return name == _SC_PHYS_PAGES ? 460L * 1048576 / next(_SC_PAGESIZE) : next(name);
        }

        """

    /// Writes a report file to `otherFolder`, or to this harness's folder if `otherFolder` is nil.
    func write(_ text: String, to name: String, in otherFolder: String? = nil) throws {
        let path = "\(otherFolder ?? folder)/\(name)"
        try durableReplace(path: path, with: text, mode: 0o644)
        print("wrote \(path)")
    }

    /// Saves the figures of a run as JSON, to be read with `savedFigures(_:_:)`.
    func save(_ figures: some Encodable, as name: String) throws {
        try write(jsonText(figures, isIndented: true), to: "\(name).json")
    }

    /// Returns the figures of the last run; nil if there are none.
    func savedFigures<Figures: Decodable>(_ type: Figures.Type, _ name: String) -> Figures? {
        try? decoded(type, from: "\(folder)/\(name).json")
    }

    /// Speaks a text with espeak-ng; returns the path of a 16 kHz WAV file.
    func speak(_ text: String, voice: String, as name: String) throws -> String {
        let (speech, path) = ("\(folder)/voice.wav", "\(folder)/\(name).wav")
        guard try MeasuredProcess(["espeak-ng", "-v", voice, "-s", "150", "-w", speech, text]).status == 0 else {
            throw DeviceError(.missing, "espeak-ng", "espeak-ng failed; install espeak-ng")
        }
        try sox([speech, "-r", "16000", path], of: speech)
        return path
    }

    /// Returns the path of the executable `fieldscribe` next to this one.
    private static func executable() throws -> String {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count - 1)
        let own = String(decoding: buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let path = own.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" } + "/fieldscribe"
        guard access(path, X_OK) == 0 else {
            throw DeviceError(.missing, "access", "\(path) does not exist; run swift build -c release first")
        }
        return path
    }
}
