import Glibc
import Testing
import TestKit

@testable import Core
@testable import Settings

/// Returns the device error that `body` throws.
private func deviceError(_ body: () throws -> Configuration) -> DeviceError? {
    do { _ = try body() } catch { return error as? DeviceError }
    return nil
}

@Suite("Files") struct FileTests {
    private func write(_ text: String, _ path: String) throws {
        let file = try #require(fopen(path, "w"))
        fputs(text, file)
        #expect(fclose(file) == 0)
    }

    @Test("the option overrides the variable, which overrides the system's file, which overrides the defaults")
    func precedence() throws {
        let folder = TemporaryFolder()
        let paths = ["flag", "variable", "system"].map(folder.file)
        for (index, path) in paths.enumerated() { try write("[capture]\nchannels = \(index + 2)\n", path) }
        let variable = ["FIELDSCRIBE_CONFIG": paths[1]]
        let fromOption = try Configuration.load(explicitPath: paths[0], environment: variable, systemPath: paths[2])
        #expect(fromOption.capture.channels == 2 && fromOption.file == paths[0])
        let fromVariable = try Configuration.load(explicitPath: nil, environment: variable, systemPath: paths[2])
        #expect(fromVariable.capture.channels == 3 && fromVariable.file == paths[1])
        let fromSystem = try Configuration.load(
            explicitPath: nil, environment: ["FIELDSCRIBE_CONFIG": ""], systemPath: paths[2])
        #expect(fromSystem.capture.channels == 4 && fromSystem.file == paths[2])
        let defaults = try Configuration.load(explicitPath: nil, environment: [:], systemPath: folder.file("absent"))
        #expect(defaults == Configuration())
    }

    @Test("the valid lines of a faulty file are used, and the invalid settings are reported")
    func faultyFile() throws {
        let folder = TemporaryFolder()
        let (faultyPath, missingPath) = (folder.file("faulty.conf"), folder.file("missing.conf"))
        try write("[capture]\nchannels = 2\ndevice =\n[panel]\nlmap = none\nthis\n", faultyPath)
        let salvaged = try #require(Configuration.salvage(explicitPath: faultyPath, environment: [:]))
        #expect(salvaged.capture.channels == 2 && salvaged.file == faultyPath)
        #expect(Configuration.salvage(explicitPath: missingPath, environment: [:]) == nil)
        do {
            _ = try Configuration.load(explicitPath: faultyPath, environment: [:])
            Issue.record("the faulty file was accepted")
        } catch let error as ConfigurationError {
            #expect(error.problems.map(\.setting).suffix(2) == ["panel.lmap", nil])
        }
    }

    @Test("a missing file is an error that says how the file was specified")
    func missing() throws {
        let path = TemporaryFolder().file("absent.conf")
        let optionError = deviceError { try Configuration.load(explicitPath: path, environment: [:]) }
        let variableError = deviceError {
            try Configuration.load(explicitPath: nil, environment: ["FIELDSCRIBE_CONFIG": path])
        }
        #expect(optionError?.code == .missing && optionError?.exitStatus == 3)
        #expect(optionError?.message == "\(path): there is no such file; correct --config")
        #expect(variableError?.code == .missing)
        #expect(variableError?.message == "\(path): there is no such file; correct $FIELDSCRIBE_CONFIG or unset it")
    }

    @Test("a FIFO, a device and a folder are refused without being opened")
    func notFiles() throws {
        let folder = TemporaryFolder()
        let fifo = folder.file("fifo")
        #expect(mkfifo(fifo, 0o600) == 0)
        for path in [fifo, "/dev/zero", "/dev/null", folder.path] {
            let error = deviceError { try Configuration.load(explicitPath: path, environment: [:]) }
            #expect(error?.code == .unsupported)
            #expect(error?.message == "\(path): is not a file; name a configuration file")
        }
    }

    @Test("a link to a file is followed")
    func link() throws {
        let folder = TemporaryFolder()
        try write("[capture]\nrate = 44100\n", folder.file("real"))
        #expect(symlink("real", folder.file("link")) == 0)
        let configuration = try Configuration.load(explicitPath: folder.file("link"), environment: [:])
        #expect(configuration.capture.rate == 44_100)
    }

    @Test("a link to itself and a name that is too long are errors with a remedy")
    func unreachable() throws {
        let folder = TemporaryFolder()
        let link = folder.file("link")
        #expect(symlink("link", link) == 0)
        for (path, remedy) in [
            (link, "name the file itself, not a link"),
            (folder.file(String(repeating: "x", count: 256)), "use a shorter name"),
        ] {
            let error = deviceError { try Configuration.load(explicitPath: path, environment: [:]) }
            #expect(error?.message.hasSuffix("; \(remedy)") == true, "\(error?.message ?? "none")")
        }
    }

    @Test("a file larger than a mebibyte is refused; a mebibyte of comments is accepted")
    func size() throws {
        let folder = TemporaryFolder()
        let comments = String(repeating: "#" + String(repeating: "x", count: 1_022) + "\n", count: 1_024)
        try write(comments, folder.file("large"))
        #expect(try Configuration.load(explicitPath: folder.file("large"), environment: [:]).capture.rate == 16_000)
        try write(comments + "\n", folder.file("larger"))
        let error = deviceError { try Configuration.load(explicitPath: folder.file("larger"), environment: [:]) }
        #expect(error?.code == .unsupported)
    }
}
