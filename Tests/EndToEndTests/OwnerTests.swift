import FoundationEssentials
import Glibc
import Testing
import TestKit

@testable import System

/// Two user IDs that no machine is expected to have.
private let (user, stranger): (uid_t, uid_t) = (64_242, 64_243)

/// Whether the tests run as root and other users may run the executable.
private let canActAsOthers: Bool = {
    guard geteuid() == 0 else { return false }
    return (try? Fieldscribe.run(["--version"], as: user, in: TemporaryFolder()))?.status == 0
}()

extension Fieldscribe {
    /// Runs the executable as a user without supplementary groups; nil means the user that runs the tests.
    fileprivate static func run(_ arguments: [String], as user: uid_t?, in folder: TemporaryFolder) throws -> Outcome {
        guard let user else { return try Fieldscribe(arguments, in: folder).wait() }
        let command = ["--reuid=\(user)", "--regid=\(user)", "--clear-groups", try executable()]
        return try Fieldscribe(program: "setpriv", command + arguments, in: folder).wait()
    }
}

/// Commands that root and a user run on the user's archive.
@Suite(
    "The archive's owner", .serialized,
    .enabled(if: canActAsOthers, "needs root and an executable that others can run"))
struct OwnerTests {
    private let folder = TemporaryFolder()
    private var storage: String { folder.file("storage") }
    private var configuration: String { folder.file("fieldscribe.conf") }

    init() throws {
        try makeFolder(storage)
        for path in [folder.path, storage] { chown(path, user, user) }
        let text = """
            [storage]
            directory = \(storage)
            reserve-megabytes = 16
            [control]
            socket = \(folder.file("run/control.sock"))
            [recognizer]
            engine = pocketsphinx

            """
        try Data(text.utf8).write(to: URL(filePath: configuration))
    }

    @discardableResult
    private func run(_ arguments: String..., as user: uid_t? = nil) throws -> Fieldscribe.Outcome {
        try Fieldscribe.run(arguments + ["--config", configuration], as: user, in: folder)
    }

    private func record(as user: uid_t? = nil) throws -> Fieldscribe.Outcome {
        try run("record", "--audio-only", "--seconds", "1", "--microphone", "tone:440", as: user)
    }

    /// Returns the files in the archive that the user does not own.
    private func foreignFiles() throws -> String {
        try Fieldscribe(program: "find", [storage, "!", "-uid", "\(user)"], in: folder).wait().output
    }

    @Test("after each command by root, the user still owns the whole archive and can record")
    func commandsByRoot() throws {
        let vocabulary = folder.file("words.txt")
        try Data("shea butter\n".utf8).write(to: URL(filePath: vocabulary))
        let stick = folder.file("stick")
        try makeFolder(stick)
        chmod(stick, 0o700)
        #expect(try record().status == 0)
        let commands = [
            ["recover"], ["verify"], ["list"], ["export", "--to", stick], ["vocabulary", "use", vocabulary],
            ["delete", "1", "--yes"],
            ["recover", "--no-transcribe"],
        ]
        for command in commands {
            let outcome = try Fieldscribe.run(command + ["--config", configuration], as: nil, in: folder)
            #expect(outcome.status == 0, "\(command): \(outcome.errors)")
            #expect(try foreignFiles() == "", "\(command)")
            let recorded = try record(as: user)
            #expect(recorded.status == 0, "\(command): \(recorded.errors)")
        }
        #expect(pathExists("\(stick)/Fieldscribe/index.html") && FileStatus(stick)?.owner == 0)
        #expect(try String(contentsOfFile: configuration, encoding: .utf8).contains(vocabulary))
        #expect(FileStatus(configuration)?.owner == 0)
    }

    @Test("root can record from a file that needs ffmpeg, and a recording that root seals is signed")
    func helperPrograms() throws {
        let (film, key) = (folder.file("film.m4a"), folder.file("key.txt"))
        try Fieldscribe.tool(
            "bash", "-c",
            "ffmpeg -v error -f lavfi -i sine=440:d=1 '\(film)' && age-keygen -o '\(key)' && age-keygen -y '\(key)' > '\(key).pub'",
            in: folder)
        let text = try String(contentsOfFile: configuration, encoding: .utf8)
        let newText = text.replacing("[control]", with: "seal = \(key).pub\n[control]") + "second-pass = no\n"
        try Data(newText.utf8).write(to: URL(filePath: configuration))
        let recorded = try run("record", "--audio-only", "--microphone", "file+fast:\(film)")
        #expect(recorded.status == 0, "\(recorded.errors)")
        #expect(try run("recover").status == 0)
        let sealing = try run("seal")
        #expect(sealing.status == 0 && sealing.output == "sealed: 1\n", "\(sealing.errors)")
        #expect(sealing.errors.isEmpty, "\(sealing.errors)")
        // The private key opens the recording, and the recorder's public key proves that it is unaltered.
        try Fieldscribe.tool(
            "bash", "-c",
            "cd '\(folder.path)' && age -d -i '\(key)' '\(storage)/recordings/000001/sealed.age' | tar x --strip-components=1 "
                + "&& minisign -V -q -p '\(storage)/signing.pub' -m SHA256SUMS -x SHA256SUMS.minisig "
                + "&& sha256sum --quiet --strict -c SHA256SUMS",
            in: folder)
        #expect(try foreignFiles() == "")
    }

    @Test("a lost database and a lost journal are rebuilt with the user as owner, even by root")
    func lostFiles() throws {
        #expect(try record(as: user).status == 0)
        for suffix in ["", "-wal"] { unlink("\(storage)/archive.sqlite\(suffix)") }
        #expect(try record().status == 0)
        unlink("\(storage)/recordings/000001/journal.jsonl")
        #expect(try run("recover", "--no-transcribe").status == 0)
        #expect(try foreignFiles() == "")
        #expect(try run("list", as: user).output.split(separator: "\n").count == 3)
    }

    @Test("an appliance started by root runs as the archive's owner, and answers")
    func appliance() throws {
        let process = try Fieldscribe(
            program: try Fieldscribe.executable(), ["run", "--config", configuration], in: folder)
        try process.wait(until: "an answer") { try run("status", as: user).status == 0 }
        // Linux keeps user IDs and capabilities per thread.
        let tasks = "/proc/\(process.id)/task"
        let identities = [user, user, user, user].map { "\($0)" }.joined(separator: "\t")
        for task in try FileManager.default.contentsOfDirectory(atPath: tasks) {
            // A thread that has exited has no status file.
            guard let status = try? String(contentsOfFile: "\(tasks)/\(task)/status", encoding: .utf8) else { continue }
            #expect(status.contains("Uid:\t\(identities)\n") && status.contains("Gid:\t\(identities)\n"))
            #expect(status.contains("CapEff:\t0000000000000000"))
        }
        kill(process.id, SIGTERM)
        #expect(try process.wait().status == 0)
        #expect(try foreignFiles() == "")
    }

    @Test("another user gets one line that names the owner, and creates no file in the archive")
    func another() throws {
        #expect(try record(as: user).status == 0)
        for path in [folder.path, storage] { chmod(path, 0o777) }
        let refused = try run("list", as: stranger)
        #expect(refused.status == 1 && refused.errors.count == 1, "\(refused.errors)")
        // Others can list recordings once the owner makes the files readable.
        try Fieldscribe.tool("chmod", "-R", "a+rX", storage, in: folder)
        #expect(try run("list", as: stranger).status == 0)
        for command in [["recover"], ["record", "--audio-only", "--seconds", "1"], ["run"]] {
            let outcome = try Fieldscribe.run(command + ["--config", configuration], as: stranger, in: folder)
            #expect(outcome.status == 1, "\(command)")
            #expect(outcome.errors.count == 1 && outcome.errors[0].contains("user \(user)"), "\(outcome.errors)")
        }
        #expect(try foreignFiles() == "")
    }

    @Test("unreadable audio is not marked missing; a line names its owner, and recording still works")
    func unreadable() throws {
        for _ in 1...2 { #expect(try record(as: user).status == 0) }
        let rootsRecording = "\(storage)/recordings/000001"
        chown(rootsRecording, 0, 0)
        chmod(rootsRecording, 0o700)
        let recovery = try run("recover", "--no-transcribe", as: user)
        #expect(recovery.status == 4)
        #expect(
            recovery.output.contains("cannot be read") && recovery.output.contains("root"), "\(recovery.output)")
        #expect(!recovery.output.contains("is missing"))
        let verification = try run("verify", as: user)
        #expect(verification.status == 4 && !verification.output.contains("is missing"), "\(verification.output)")
        #expect(try record(as: user).status == 0)
        #expect(try !run("list", as: user).output.contains("missing"))
    }

    @Test("a database owned by root is renamed, and recording continues with a new database")
    func rootsDatabase() throws {
        #expect(try record(as: user).status == 0)
        let database = "\(storage)/archive.sqlite"
        chown(database, 0, 0)
        chmod(database, 0o600)
        #expect(try record(as: user).status == 0)
        #expect(pathExists("\(database).damaged-1"))
        #expect(try run("list", as: user).output.split(separator: "\n").count == 3)
    }

    @Test("an unreadable private key on a stick is reported with a remedy, and nothing is copied")
    func unreadableKey() throws {
        #expect(try record(as: user).status == 0)
        let (stick, key) = (folder.file("stick/Fieldscribe"), folder.file("stick/Fieldscribe/key.txt"))
        try FileManager.default.createDirectory(atPath: stick, withIntermediateDirectories: true)
        try Data("AGE-SECRET-KEY-1\n".utf8).write(to: URL(filePath: key))
        for path in [folder.file("stick"), stick] { chown(path, user, user) }
        let recipient = "age1gsys5s27sm6gpfye4nx6rkfmq4jncsrav9pkcg7cc4xp9m79u3hs4vcygd"
        let text = try String(contentsOfFile: configuration, encoding: .utf8)
        try Data(text.replacing("[control]", with: "seal = \(recipient)\n[control]").utf8).write(
            to: URL(filePath: configuration))
        for mode in [0o600, 0] as [mode_t] {
            chmod(key, mode)
            let reported = try run("export", "--stick", "--to", folder.file("stick"), as: user)
            let line =
                "Fieldscribe/key.txt: permission denied; nothing was opened; make it readable for everybody (chmod a+r), "
                + "or remove it"
            #expect(reported.errors.contains { $0.contains(line) }, "\(reported.errors)")
            #expect(try Fieldscribe.text("\(stick)/RESULT.txt").contains(line))
            #expect(try Fieldscribe.text("\(stick)/RESULT.txt").contains("NOTHING WAS COPIED to this stick"))
            #expect(try FileManager.default.contentsOfDirectory(atPath: stick).sorted() == ["RESULT.txt", "key.txt"])
        }
    }

    @Test(
        "members of the control group may control the appliance, even if the appliance is not a member; others may not")
    func group() throws {
        let process = try appliance(group: "audio")
        defer { kill(process.id, SIGTERM) }
        let audio = try #require(getgrnam("audio")?.pointee.gr_gid)
        func status(_ identity: [String]) throws -> Fieldscribe.Outcome {
            let arguments = identity + [try Fieldscribe.executable(), "status", "--config", configuration]
            return try Fieldscribe(program: "setpriv", arguments, in: folder).wait()
        }
        let memberIdentity = ["--reuid=\(stranger)", "--regid=\(stranger)", "--groups=\(audio)"]
        try process.wait(until: "an answer") { try status(memberIdentity).status != 5 }
        #expect(try status(memberIdentity).status == 0)
        let refused = try status(["--reuid=\(stranger)", "--regid=\(stranger)", "--clear-groups"])
        #expect(refused.status == 1 && refused.errors.contains { $0.contains("join its group") }, "\(refused.errors)")
    }

    /// Starts an appliance as the user, who is in no group, with a control socket that belongs to `group`.
    private func appliance(group: String) throws -> Fieldscribe {
        let run = folder.file("run")
        try makeFolder(run)
        chown(run, user, user)
        for path in [folder.path, run] { chmod(path, 0o755) }
        let text = try String(contentsOfFile: configuration, encoding: .utf8)
            .replacing("[recognizer]", with: "group = \(group)\n[panel]\nbutton = sim:\nlamp = sim:\n[recognizer]")
        try Data(text.utf8).write(to: URL(filePath: configuration))
        let identity = ["--reuid=\(user)", "--regid=\(user)", "--clear-groups"]
        let arguments = [try Fieldscribe.executable(), "run", "--config", configuration]
        return try Fieldscribe(program: "setpriv", identity + arguments, in: folder)
    }
}
