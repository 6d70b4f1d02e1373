import FoundationEssentials
import Glibc
import Testing
import TestKit

@Suite("run", .serialized) struct RunTests {
    let folder = TemporaryFolder()

    /// Returns the samples of a WAV file, without its header.
    func samples(_ path: String) throws -> Data {
        let raw = folder.file("samples-\(UInt32.random(in: 0...UInt32.max)).raw")
        try Fieldscribe.tool("sox", path, "-t", "raw", raw, in: folder)
        return try Data(contentsOf: URL(filePath: raw))
    }

    func audio(_ recording: Int, of appliance: ApplianceProcess) -> String {
        "\(appliance.storage)/recordings/00000\(recording)/audio.wav"
    }

    @Test(
        "pressing the button starts, marks and stops a recording, and the lamp shows each press",
        arguments: ["toggle", "mark"])
    func panel(_ style: String) throws {
        let speech = try Speech.endless(in: folder)
        let appliance = try ApplianceProcess(in: folder, microphone: "file:\(speech)", style: style)
        let watcher = try Watcher(appliance)
        try appliance.press()
        try watcher.wait { $0.contains(#""state":"recording""#) }
        try watcher.wait { $0.contains(#""event":"partial""#) }
        // The style determines whether a short or a long press marks or stops.
        let waitForMark = { try watcher.wait { $0.contains(#""event":"mark""#) } }
        let waitForStopping = { try watcher.wait { $0.contains(#""state":"stopping""#) } }
        try style == "toggle" ? appliance.press(until: waitForMark) : appliance.press()
        try waitForMark()
        try watcher.wait { $0.contains(#""event":"final""#) }
        try style == "toggle" ? appliance.press() : appliance.press(until: waitForStopping)
        try waitForStopping()
        try appliance.waitForStatus(#""backlogSeconds":0,"#)
        var lamp: [ApplianceProcess.LampChange] = []
        try appliance.process.wait(until: "the lamp goes out") {
            lamp = try appliance.lamp()
            return lamp.last?.lit == false
        }
        try watcher.waitForState("idle")
        let lines = try watcher.lines
        #expect(try watcher.stop().status == 130)
        let outcome = try appliance.stop()
        #expect(outcome.status == 0, "\(outcome.errors)")

        let states = ["idle", "recording", "stopping"].flatMap { state in
            lines.indices.filter { lines[$0].contains("\"state\":\"\(state)\"") }.map { ($0, state) }
        }.sorted { $0.0 < $1.0 }.map(\.1)
        #expect(states == ["idle", "recording", "stopping", "idle"])
        let order = ["recording", "partial", "mark", "final", "stopping"].compactMap { word in
            lines.firstIndex { $0.contains("\"event\":\"\(word)\"") || $0.contains("\"state\":\"\(word)\"") }
        }
        #expect(order.count == 5 && order.first == order.min() && order.last == order.max())
        #expect(lines.filter { $0.contains(#""event":"level""#) }.count > 5)

        // A blink for the press, then steady light, and a blink for the mark in between.
        let shows = lamp.map(\.shows)
        #expect(shows.first == "blink" && lamp.first?.lit == true)
        let steady = try #require(lamp.firstIndex { $0.shows == "steady" && $0.lit })
        #expect(lamp[steady...].contains { $0.shows == "blink" && !$0.lit })
        #expect(lamp.last?.lit == false)
        #expect(!shows.contains("fault"), "\(outcome.errors)")

        // After the appliance has stopped, commands open the archive themselves.
        let list = try appliance.run("list", "--json").output
        #expect(list.contains(#""stopReason":"button""#), "\(list)")
        let shown = try appliance.run("show", "1", "--format", "json").output
        let transcript = try Transcript(shown)
        #expect(transcript.words.count > 3)
        #expect(shown.contains(#""marks":[{"#))
        let recorded = try samples(audio(1, of: appliance))
        #expect(recorded.count == 2 * Int((transcript.duration * 16_000).rounded()))
        #expect(try samples(speech).starts(with: recorded))
    }

    @Test("in the pause style, presses pause and resume the recording, and holding the button stops it")
    func pause() throws {
        let speech = try Speech.endless(in: folder)
        let appliance = try ApplianceProcess(in: folder, microphone: "file:\(speech)", style: "pause")
        let watcher = try Watcher(appliance)
        try appliance.press()
        try watcher.wait { $0.contains(#""event":"partial""#) }
        try appliance.press()
        try appliance.waitForStatus(#""state":"paused""#)
        #expect(try appliance.run("mark").errors.first?.contains("the recording is paused") ?? false)
        #expect(try appliance.run("pause").output == "paused 1\n")
        try appliance.process.wait(until: "a flash for the pause") {
            try appliance.lamp().contains { $0.shows == "paused" && !$0.lit }
        }
        try appliance.press()
        try watcher.wait { $0.contains(#""cause":"paused""#) }
        // Pauses begin and end with a block of the microphone, so each state must last longer than a block.
        let minimumSeconds = 0.3
        try appliance.waitForSound(seconds: minimumSeconds)
        #expect(try appliance.run("pause").output == "paused 1\n")
        try appliance.waitForSound(seconds: minimumSeconds)
        #expect(try appliance.run("resume").output == "recording 1\n")
        try appliance.waitForSound(seconds: minimumSeconds)
        try watcher.wait { $0.contains(#""event":"final""#) }
        try appliance.press { try watcher.wait { $0.contains(#""state":"stopping""#) } }
        try appliance.waitForStatus(#""backlogSeconds":0,"#)
        try watcher.waitForState("idle")
        let states = try watcher.states
        let lastStates = ["paused", "stopping", "idle"]
        #expect(
            states == ["idle", "recording"] + ["paused", "recording"] + ["paused", "recording"] + lastStates,
            "\(states)")
        let outcome = try appliance.stop()
        #expect(outcome.status == 0 && !outcome.errors.contains { $0.contains("fault") }, "\(outcome.errors)")

        let shown = try JSONDecoder().decode(
            Gaps.self, from: Data(try appliance.run("show", "1", "--format", "json").output.utf8))
        #expect(shown.gaps.map(\.cause) == ["paused", "paused"])
        var expected = Array(try samples(speech))
        let recorded = Array(try samples(audio(1, of: appliance)))
        for gap in shown.gaps {
            let range = 2 * Int((gap.start * 16_000).rounded())..<2 * Int((gap.end * 16_000).rounded())
            #expect(!range.isEmpty)
            expected.replaceSubrange(range, with: repeatElement(0, count: range.count))
        }
        #expect(expected.starts(with: recorded))
    }

    @Test("every command prints the new state; list and show report the state of a running recording")
    func commands() throws {
        let appliance = try ApplianceProcess(
            in: folder, microphone: "file:\(try Speech.endless(in: folder))", style: "pause")
        let watcher = try Watcher(appliance)
        func expect(_ command: String, _ line: String) throws {
            let outcome = try appliance.run(command)
            #expect(outcome.status == 0 && outcome.output == "\(line)\n", "\(command): \(outcome)")
        }
        func expect(_ command: String, refusal: String) throws {
            let outcome = try appliance.run(command)
            #expect(outcome.status != 0 && outcome.errors.first?.contains(refusal) == true, "\(command): \(outcome)")
        }
        func expectListed(_ state: String) throws {
            let line = try appliance.run("list").output
            #expect(line.contains("    \(state)") && line.contains("  00:") && !line.contains("cut short"), "\(line)")
            let json = try appliance.run("list", "--json").output
            #expect(
                json.contains(#""state":"\#(state)","stopReason":"","#) && !json.contains(#""duration":0,"#), "\(json)")
            let shown = try appliance.run("show", "1")
            let end = "transcript is not complete yet"
            #expect(
                shown.errors.contains { $0.contains("recording 1: \(state), 00:") && $0.hasSuffix(end) }, "\(shown)")
            // During a pause, everything recorded so far may be transcribed already.
            if state == "recording" { #expect(shown.output.contains("[transcribed up to 0:"), "\(shown)") }
        }
        try expect("pause", refusal: "nothing is being recorded; there is nothing to pause")
        try expect("resume", refusal: "nothing is being recorded; there is nothing to resume")
        try expect("mark", refusal: "nothing is being recorded; start first, then mark")
        try expect("stop", "nothing was being recorded")
        try expect("start", "recording 1")
        try expect("start", "recording 1")
        try expect("resume", "recording 1; nothing was paused")
        try watcher.wait { $0.contains(#""event":"final""#) }
        try expectListed("recording")
        try expect("pause", "paused 1")
        try expect("pause", "paused 1")
        try expect("mark", refusal: "the recording is paused; resume it first, then mark")
        try expectListed("paused")
        try expect("start", "recording 1, resumed")
        try appliance.waitForStatus(#""state":"recording""#)
        try watcher.wait { $0.contains(#""cause":"paused""#) }
        try expect("pause", "paused 1")
        try expect("resume", "recording 1")
        try expect("resume", "recording 1; nothing was paused")
        try expect("toggle", "stopped 1")
        try appliance.process.wait(until: "the complete transcript") {
            try appliance.run("list", "--json").output.contains(#""stopReason":"command""#)
                && !appliance.run("show", "1").output.contains("transcribed")
        }
        #expect(try !appliance.run("list", "--json").output.contains(#""state""#))
        let shown = try appliance.run("show", "1")
        #expect(!shown.errors.contains { $0.contains("not complete") }, "\(shown)")
        #expect(shown.output.contains(" s: paused]\n"), "\(shown)")
        #expect(try appliance.stop().status == 0)
    }

    private struct Gaps: Decodable {
        struct Gap: Decodable {
            var start: Double
            var end: Double
            var cause: String
        }

        var gaps: [Gap]
    }

    @Test("the archive can be read during a recording, and a second appliance is refused")
    func archive() throws {
        let appliance = try ApplianceProcess(in: folder, microphone: "file:\(Speech.all[0])")
        let watcher = try Watcher(appliance)
        #expect(try appliance.run("start").output == "recording 1\n")
        #expect(try appliance.run("start").output == "recording 1\n")
        try watcher.wait { $0.contains(#""event":"final""#) }
        #expect(try appliance.run("list").output.contains("\n1  "))
        let mark = try appliance.run("mark", "here", "it", "is")
        #expect(mark.output.hasPrefix("marked 1 at 00:"), "\(mark)")
        let shown = try appliance.run("show", "1")
        #expect(shown.status == 0 && shown.output.split(separator: " ").count > 3, "\(shown)")
        let text = shown.output.split(separator: "\n").filter { !$0.hasPrefix("[") }.joined(separator: " ")
        let word = try #require(text.split(separator: " ").max { $0.count < $1.count })
        let found = try appliance.run("search", String(word))
        #expect(found.output.hasPrefix("1  ") && found.output.contains("\n   00:0"), "\(found)")
        #expect(found.output.contains("["), "\(found)")
        #expect(try appliance.run("show", "9").status == 3)
        let status = try appliance.run("status")
        #expect(
            status.output.hasPrefix("state        recording\n") && status.output.hasSuffix("last fault   none\n"),
            "\(status)")
        #expect(try appliance.run("status", "--json").output.contains(#""recording":1,"#))
        // A second appliance is refused and does not disturb the first.
        let second = try appliance.run("run")
        #expect(second.status == 1 && second.errors.first?.contains("another fieldscribe run is active") ?? false)
        #expect(try appliance.run("stop").output == "stopped 1\n")
        #expect(try appliance.run("stop").output == "nothing was being recorded\n")
        #expect(try appliance.run("toggle").output == "recording 2\n")
        #expect(try appliance.run("toggle").output == "stopped 2\n")
        #expect(try appliance.run("list").output.split(separator: "\n").count == 3)
        let outcome = try appliance.stop()
        #expect(outcome.status == 0 && !outcome.errors.contains { $0.contains(word) }, "\(outcome.errors)")
        for command in ["start", "stop", "toggle", "pause", "resume", "mark", "status", "watch"] {
            let refused = try appliance.run(command)
            #expect(refused.status == 5 && refused.errors.count == 1 && refused.errors[0].contains("not running"))
        }
    }

    @Test("a stop cancels a start that waits for the previous recording to close", arguments: ["start", "toggle"])
    func stopStartStop(_ secondCommand: String) throws {
        let appliance = try ApplianceProcess(in: folder, microphone: "tone:440")
        for round in 1...3 {
            try waitUntil("the last command in round \(round) wins") {
                #expect(try appliance.run("start").status == 0)
                let clients = try (0..<3).map { _ in try #require(SocketClient(appliance.socket)) }
                let commands = ["stop", secondCommand, secondCommand == "toggle" ? "toggle" : "stop"]
                for (client, command) in zip(clients, commands) {
                    client.send("{\"command\":\"\(command)\"}")
                    // wait: connections are unordered; the delay makes this order likely, or the round is repeated
                    usleep(200_000)
                }
                for client in clients { #expect(client.line() != nil) }
                return try appliance.ask(#"{"command":"status"}"#)?.contains(#""state":"idle""#) == true
            }
        }
        let outcome = try appliance.stop()
        #expect(outcome.status == 0 && !outcome.errors.contains { $0.contains("fault") }, "\(outcome.errors)")
    }
}
