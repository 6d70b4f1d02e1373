import Glibc
import Testing
import TestKit

@testable import Core
@testable import Office
@testable import System
@testable import Transcripts

/// Workers, which run `fieldscribe-office work`, are killed or stopped while they transcribe recordings again.
@Suite("Transcribing again", .enabled(if: TestServer.shared != nil)) struct WorkTests {
    private let desk: OfficeDesk
    private let transcriber: String

    init() throws {
        signal(SIGPIPE, SIG_IGN)
        let desk = try OfficeDesk(.server(try #require(TestServer.shared)))
        self.desk = desk
        transcriber = try Self.makeTranscriber(in: desk.folder)
    }

    /// Creates a replacement for fieldscribe. It appends a line to the file `log` when it starts to transcribe, and waits while
    /// the file `hold` exists.
    private static func makeTranscriber(in folder: TemporaryFolder) throws -> String {
        try folder.program(
            "reader",
            """
            case $1 in
            models) echo '[{"name":"tiny","engine":"fake","sha256":"0123456789abcdef","isChosen":true,"problems":[]}]' ;;
            transcribe)
                for file; do :; done
                echo "$file" >>'\(folder.file("log"))'
                # wait: polls until the test lets it continue
                while [ -e '\(folder.file("hold"))' ]; do sleep 0.05; done
                # wait: simulates the time that transcribing takes
                sleep $(cat '\(folder.file("delay"))' 2>/dev/null || echo 0)
                case $file in *"$(cat '\(folder.file("bad"))' 2>/dev/null || echo none)"*) echo "reader: cannot" >&2; exit 4 ;; esac
                echo '{"file":"x","duration":4,"sampleRate":16000,"engine":{"name":"fake","version":"1","model":"tiny"},"segments":[
                {"id":1,"start":0,"end":2,"text":"fonio","confidence":0.9,"endedBy":"silence","words":[
                {"text":"fonio","start":0.1,"end":0.4,"confidence":0.9}]},
                {"id":2,"start":3,"end":3.9,"text":"secret","confidence":0.9,"endedBy":"silence","words":[
                {"text":"secret","start":3.8,"end":3.9,"confidence":0.9}]}]}' ;;
            esac
            """)
    }

    private func record(_ count: Int) async throws {
        let recorder = FieldRecorder("pi", identity: FieldRecorder.identity("a"))
        for id in 1...count { await recorder.record(id, "phone yo \(id)") }
        try await recorder.copy(to: desk.stick("one"))
        try desk.gather(desk.stick("one"))
    }

    private func work(_ options: String) throws -> String {
        "'\(try officeProgram())' work --archive '\(desk.database ?? "")' --program '\(transcriber)' --lease 2 \(options)"
    }

    /// Returns the number of transcripts by the engine `fake` for each recording.
    private func transcriptCounts() throws -> [Int] {
        let archive = try desk.archive()
        return try archive.recordings(OfficeFilter()).map { recording in
            try archive.transcripts(of: recording.id).count { $0.engine == "fake" }
        }
    }

    @Test("transcribes each recording once, and keeps existing transcripts, corrections and redactions")
    func once() async throws {
        let recorder = FieldRecorder("pi", identity: FieldRecorder.identity("a"))
        await recorder.record(1, "phone yo")
        await recorder.record(2, "phone", redacted: true)
        await recorder.record(3, "phone yo", annotations: Annotations(people: "Awa"))
        try await recorder.copy(to: desk.stick("one"))
        try desk.gather(desk.stick("one"))
        let archive = try desk.archive()
        var timeline = try #require(try archive.timeline(ofTranscript: archive.transcripts(of: 1)[0].id))
        timeline.segments[0].words[0].text = "corrected"
        _ = try archive.add(GatheredTranscript(digest: "x", timeline: timeline, person: "Awa", madeAt: 1), of: 1)
        let run = shell(try work("--until-empty"))
        #expect(run.status == 0 && run.output.split(separator: "\n").count == 4, "\(run)")
        #expect(run.output.hasPrefix("transcribing with fake tiny 0123456789ab\n"), "\(run)")
        #expect(try transcriptCounts() == [1, 1, 1])
        #expect(try desk.found("corrected").count == 1 && desk.found("fonio").count == 2)
        #expect(try desk.found("secret") == ["pi-aaaaaaaa: [secret]"])
        #expect(try archive.recordings(OfficeFilter()).map(\.people) == ["", "", "Awa"])
        #expect(try archive.transcripts(of: 1).map(\.engine).last == "test")
        let again = shell(try work("--once"))
        #expect(again.status == 0 && again.output.hasSuffix("there is nothing to transcribe\n"), "\(again)")
        #expect(try transcriptCounts() == [1, 1, 1])
    }

    @Test("if the shown copy has no audio, another copy is transcribed")
    func otherCopy() async throws {
        let recorder = FieldRecorder("pi", identity: FieldRecorder.identity("a"))
        await recorder.record(1, "phone yo")
        try await recorder.copy(to: desk.stick("one"))
        try desk.gather(desk.stick("one"))
        let copy = try #require(recorder.copies(on: desk.stick("one")).first)
        #expect(shell("cd '\(copy)' && rm audio.flac && sed -i /audio.flac/d SHA256SUMS").status == 0)
        try desk.gather(desk.stick("one"))
        #expect(try desk.archive().recordings(OfficeFilter()).map(\.audioName) == [""])
        let run = shell(try work("--until-empty"))
        #expect(run.status == 0, "\(run)")
        #expect(try transcriptCounts() == [1])
    }

    @Test("a job whose recording no longer has usable audio fails, and work ends")
    func lostAudio() async throws {
        try await record(2)
        #expect(shell(try work("--once")).status == 0)
        try #require(try desk.archive() as? OfficeDatabase).connection.execute("UPDATE copy SET audio = ''")
        let run = shell(try work("--until-empty"))
        #expect(run.status == 4 && run.output.contains("no copy has audio"), "\(run)")
    }

    @Test("PocketSphinx skips recordings that it or another engine has transcribed, unless it was chosen")
    func fallbackEngine() async throws {
        try await record(4)
        let archive = try #require(try desk.archive() as? OfficeDatabase)
        // One transcript each by another engine, with the same model, with another model, and without an engine.
        try archive.connection.execute(
            """
            UPDATE reading SET engine = 'pocketsphinx' WHERE recording IN (2, 3);
            UPDATE reading SET timeline = replace(timeline, 'none', 'other') WHERE recording = 3;
            UPDATE reading SET engine = '' WHERE recording = 4
            """)
        for (model, count) in [("none", 2), (nil, 4)] as [(String?, Int)] {
            let engine = OfficeEngine(name: OfficeEngine.fallback, model: model, label: model ?? "chosen")
            try archive.addJobs(for: engine)
            #expect(try archive.unfinishedCount(for: engine) == count, "\(engine)")
        }
    }

    @Test("the real program transcribes with whisper.cpp and the model that the configuration names")
    func whisper() async throws {
        let model = getenv("FIELDSCRIBE_TEST_WHISPER").map { String(cString: $0) } ?? ""
        guard !model.isEmpty, shell("command -v whisper-cli").status == 0 else {
            return print("➜ skipped: work with whisper.cpp: FIELDSCRIBE_TEST_WHISPER or whisper-cli is missing")
        }
        let recorder = FieldRecorder("pi", identity: FieldRecorder.identity("a"))
        let speech = "/usr/share/pocketsphinx/test/data/librivox/sense_and_sensibility_01_austen_64kb-0930.wav"
        #expect(shell("sox '\(speech)' '\(recorder.audioPath(1))' pad 0 4 trim 0 4").status == 0)
        await recorder.record(1, "phone yo")
        try await recorder.copy(to: desk.stick("one"))
        try desk.gather(desk.stick("one"))
        let configuration = desk.folder.file("fieldscribe.conf")
        shell(
            """
            printf '[storage]\ndirectory = %s\n[recognizer]\nwhisper-model = %s\n' \
                '\(desk.folder.file("store"))' '\(model)' > '\(configuration)'
            """)
        let run = shell(
            """
            FIELDSCRIBE_CONFIG='\(configuration)' '\(try officeProgram())' work --archive '\(desk.database ?? "")' \
                --program '\(try builtProgram("fieldscribe"))' --engine whisper --until-empty
            """)
        #expect(run.status == 0 && run.output.hasPrefix("transcribing with whisper\n"), "\(run)")
        let archive = try desk.archive()
        let transcript = try #require(try archive.transcripts(of: 1).first { $0.engine == "whisper" }, "\(run)")
        let timeline = try #require(try archive.timeline(ofTranscript: transcript.id))
        let words = timeline.segments.flatMap(\.words).map(\.text)
        let expected = "he might even have been made amiable himself".split(separator: " ").map(String.init)
        #expect(WordErrorRate.normalized(words.joined(separator: " ")).filter(expected.contains).count >= 4, "\(words)")
    }

    @Test("the program may be a link")
    func link() throws {
        let folder = TemporaryFolder()
        let link = folder.file("transcriber")
        #expect(symlink("/bin/true", link) == 0)
        #expect(try TranscriptionProgram.find(link) == link)
        #expect(thrown { _ = try TranscriptionProgram.find(folder.path) }?.code == .missing)
    }

    @Test("each error is reported in one line")
    func refused() async throws {
        try await record(2)
        let program = try officeProgram()
        for (options, status, message) in [
            ("--archive '\(desk.archivePath)'", 2, "an archive in PostgreSQL is needed"),
            ("--once --until-empty", 2, "choose"),
            ("--lease 1", 2, "--lease 1"), ("--program /nowhere", 3, "/nowhere: is not installed"),
            ("extra", 2, "unexpected"),
            (
                "--program /bin/true", 3,
                "has no model; see /bin/true models and doctor, or choose an engine with --engine"
            ), ("--files /nowhere", 3, "/nowhere"),
        ] as [(String, Int32, String)] {
            let run = shell(
                "FIELDSCRIBE_ARCHIVE='\(desk.database ?? "")' '\(program)' work --program '\(transcriber)' \(options)")
            #expect(run.status == status && run.output.split(separator: "\n").count == 1, "\(options): \(run)")
            #expect(run.output.contains(message), "\(options): \(run)")
        }
        // A recording that cannot be transcribed is tried three times and reported; the other one is transcribed.
        shell("echo 000001 > '\(desk.folder.file("bad"))'")
        let run = shell(try work("--until-empty"))
        #expect(run.status == 4 && run.output.contains("recording 1 failed three times: "), "\(run)")
        #expect(try transcriptCounts() == [0, 1])
        shell("rm '\(desk.folder.file("bad"))'")
        #expect(shell(try work("--until-empty")).status == 4)
        #expect(shell(try work("--until-empty --retry")).status == 0)
        #expect(try transcriptCounts() == [1, 1])
    }

    @Test("a worker that is stopped releases its recording immediately")
    func stopped() async throws {
        try await record(1)
        shell("echo 30 > '\(desk.folder.file("delay"))'")
        let run = shell("timeout -s TERM 2 \(try work("--lease 3600"))")
        #expect(run.status == 124 || run.status == 130, "\(run)")
        shell("echo 0 > '\(desk.folder.file("delay"))'")
        let next = shell(try work("--once"))
        #expect(next.output.contains("1  0:04"), "\(next)")
        #expect(try transcriptCounts() == [1])
    }

    @Test("each recording gets one transcript from the engine, although workers are killed repeatedly")
    func killed() async throws {
        let count = 24
        try await record(count)
        shell("echo 0.1 > '\(desk.folder.file("delay"))'")
        var killCount = 0
        for round in 1...4 {
            let delay = 0.3 + 0.15 * Double(round)
            let run = shell(
                """
                for worker in 1 2 3; do timeout -s KILL \(delay) \(try work("--until-empty")) >/dev/null 2>&1 & done; wait
                """)
            #expect(run.status == 0)
            killCount += 3
        }
        let last = shell("\(try work("--until-empty")) & \(try work("--until-empty")); wait")
        #expect(last.status == 0, "\(last)")
        let started = shell("sort '\(desk.folder.file("log"))' | wc -l").output
        print("➜ transcribing again: killed \(killCount) workers; \(started.dropLast()) starts for \(count) recordings")
        #expect(try transcriptCounts() == [Int](repeating: 1, count: count))
    }

    @Test("a worker that was suspended for longer than its lease does not add a second transcript")
    func expiredLease() async throws {
        try await record(1)
        shell("touch '\(desk.folder.file("hold"))'")
        let run = shell(
            """
            \(try work("--once")) > '\(desk.folder.file("output"))' 2>&1 & worker=$!
            # wait: polls until transcription has started, for at most ten minutes
            for attempt in $(seq 12000); do [ -s '\(desk.folder.file("log"))' ] && break; sleep 0.05; done
            # wait: the lease of 2 s must expire; a slow machine only waits longer
            kill -STOP $worker; rm '\(desk.folder.file("hold"))'; sleep 3
            \(try work("--once")); kill -CONT $worker; wait $worker; cat '\(desk.folder.file("output"))'
            """)
        #expect(run.output.contains("another machine has"), "\(run)")
        #expect(try transcriptCounts() == [1])
    }
}

/// A separate database server, which the test kills.
@Suite("A database that is killed", .enabled(if: TestServer.shared != nil)) struct KilledServerTests {
    @Test("workers wait for the database; no transcript is lost or added twice")
    func killed() async throws {
        let server = try TestServer(try #require(TestServer.shared).programs)
        let desk = try OfficeDesk(.server(server))
        let recorder = FieldRecorder("pi", identity: FieldRecorder.identity("a"))
        let count = 16
        for id in 1...count { await recorder.record(id, "phone yo \(id)") }
        try await recorder.copy(to: desk.stick("one"))
        try desk.gather(desk.stick("one"))
        let (started, hold) = (desk.folder.file("started"), desk.folder.file("hold"))
        let transcriber = try desk.folder.program(
            "reader",
            """
            if [ $1 = models ]; then
                echo '[{"name":"tiny","engine":"fake","sha256":"0123456789abcdef","isChosen":true,"problems":[]}]'
            else
                echo started >>'\(started)'
                # wait: polls until the test lets it continue
                while [ -e '\(hold)' ]; do sleep 0.05; done
                echo '{"file":"x","duration":4,"sampleRate":16000,"engine":{"name":"fake","version":"1","model":"tiny"},"segments":[]}'
            fi
            """)
        let work =
            "'\(try officeProgram())' work --archive '\(desk.database ?? "")' --program '\(transcriber)' --lease 2 --until-empty"
        let log = desk.folder.file("log")
        func lineCount(with word: String, in file: String) -> Int {
            Int(shell("grep -c '\(word)' '\(file)'").output.dropLast()) ?? 0
        }
        shell("touch '\(hold)'; for worker in 1 2; do (\(work); echo ended $?) >>'\(log)' 2>&1 </dev/null & done")
        for round in 1...2 {
            // Kills the database while each worker transcribes a recording.
            try await eventually("two more transcriptions") { lineCount(with: "started", in: started) >= 2 * round }
            try server.kill()
            shell("rm '\(hold)'")
            try await eventually("both wait for the database") {
                lineCount(with: "trying for 10 minutes", in: log) >= 2 * round
            }
            if round == 1 { shell("touch '\(hold)'") }
            try server.start()
        }
        try await eventually("the exit of both workers") { lineCount(with: "^ended ", in: log) == 2 }
        let output = shell("cat '\(log)'").output
        #expect(output.split(separator: "\n").count { $0 == "ended 0" } == 2, "\(output)")
        #expect(output.contains("trying for 10 minutes"), "\(output)")
        let archive = try desk.archive()
        let counts = try archive.recordings(OfficeFilter()).map { recording in
            try archive.transcripts(of: recording.id).count { $0.engine == "fake" }
        }
        #expect(counts == [Int](repeating: 1, count: count), "\(output)")
        print("➜ transcribing again: killed the database twice; 2 workers transcribed \(count) recordings once each")
    }
}
