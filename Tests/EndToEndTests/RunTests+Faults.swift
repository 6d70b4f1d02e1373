import FoundationEssentials
import Glibc
import Testing
import TestKit

@testable import Appliance

extension RunTests {
    @Test("an unread log does not delay the recording, the status or the lamp")
    func unreadJournal() throws {
        let journal = folder.file("journal")
        try #require(mkfifo(journal, 0o600) == 0)
        let reader = open(journal, O_RDWR | O_NONBLOCK)
        defer { close(reader) }
        let appliance = try ApplianceProcess(in: folder, microphone: "tone:440", journal: journal)
        // Each message is longer than half of the pipe's buffer.
        for number in 1...4 {
            let message = "\(number)" + String(repeating: "x", count: 40_000)
            _ = try appliance.ask(#"{"command":"exporting","export":"failed","text":"\#(message)"}"#)
            try appliance.waitForStatus(#""message":"\#(number)xxx"#)
            try appliance.process.wait(until: "the lamp's fault") { try appliance.lamp().last?.shows == "fault" }
        }
        #expect(try appliance.run("start").output == "recording 1\n")
        #expect(try appliance.run("stop").output == "stopped 1\n")
        try appliance.waitForStatus(#""state":"faulted""#)
        // A process that waits for a reader of its log exits once somebody reads.
        kill(appliance.process.id, SIGTERM)
        var bytes = [UInt8](repeating: 0, count: 65_536)
        try waitUntil("the appliance exits") {
            while read(reader, &bytes, bytes.count) > 0 {}
            return !appliance.process.isRunning
        }
        #expect(try appliance.process.wait().status == 0)
    }

    @Test(
        "a signal closes the recording, and the appliance can be started again",
        arguments: [SIGTERM, SIGINT, SIGQUIT, SIGSEGV])
    func signals(_ signal: Int32) throws {
        let appliance = try ApplianceProcess(in: folder, microphone: "file:\(try Speech.endless(in: folder))")
        let watcher = try Watcher(appliance)
        try appliance.press()
        try watcher.wait { $0.contains(#""event":"partial""#) }
        let outcome = try appliance.stop(signal)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.errors.last?.contains("stopped") ?? false)
        #expect(access(appliance.socket, F_OK) != 0)
        #expect(!outcome.errors.contains { $0.contains("fault") }, "\(outcome.errors)")
        let list = try appliance.run("list", "--json").output
        #expect(list.contains(#""stopReason":"shutdown""#), "\(list)")
        let recorded = try samples(audio(1, of: appliance))
        let transcript = try Transcript(try appliance.run("show", "1", "--format", "json").output)
        #expect(recorded.count > 32_000 && recorded.count == 2 * Int((transcript.duration * 16_000).rounded()))
        // The next appliance can start.
        let next = try ApplianceProcess(in: folder, microphone: "tone:440")
        #expect(try next.run("start").output == "recording 2\n")
        #expect(try next.stop().status == 0)
    }

    @Test("a hanging decode worker does not delay a stop of the appliance")
    func hangingWorker() throws {
        let appliance = try ApplianceProcess(in: folder, microphone: "file:\(try Speech.endless(in: folder))")
        let watcher = try Watcher(appliance)
        try appliance.press()
        try watcher.wait { $0.contains(#""event":"partial""#) }
        let workers = Set(try appliance.process.children).filter { kill($0, SIGSTOP) == 0 }
        defer { for worker in workers { kill(worker, SIGKILL) } }
        #expect(!workers.isEmpty)
        let outcome = try appliance.stop()
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.errors.last?.contains("stopped") ?? false, "\(outcome.errors)")
        // The recording is closed, and the worker's utterance is transcribed at the next start.
        let list = try appliance.run("list", "--json").output
        #expect(list.contains(#""stopReason":"shutdown""#), "\(list)")
        let recorded = try samples(audio(1, of: appliance))
        let transcript = try Transcript(try appliance.run("show", "1", "--format", "json").output)
        #expect(recorded.count > 32_000 && recorded.count == 2 * Int((transcript.duration * 16_000).rounded()))
    }

    @Test("no sample is lost despite two hundred idle clients and a flood of garbage")
    func hostile() throws {
        let appliance = try ApplianceProcess(
            in: folder, microphone: "file:\(Speech.all[1])", settings: "[recognizer]\nmodel = /nonexistent/model")
        #expect(try appliance.run("start").status == 0)
        var generator = SeededGenerator()
        var idleClients: [SocketClient] = []
        for _ in 0..<200 {
            if let client = SocketClient(appliance.socket) { idleClients.append(client) }
        }
        #expect(idleClients.count == 200)
        // Idle clients are disconnected in favor of new clients.
        let replacedClients = idleClients.prefix(180).filter {
            $0.line()?.contains("another client needs this connection") ?? false
        }
        #expect(replacedClients.count == 180)
        idleClients = []
        for _ in 0..<300 {
            guard let client = SocketClient(appliance.socket) else { continue }
            client.send((0..<500).map { _ in UInt8.random(in: 0...255, using: &generator) })
        }
        // Requests that change the recording or restart the service are sent only with invalid values.
        let stateChanges: Set = ["stop", "toggle", "pause", "press", "release", "settings", "strike"]
        let commands = RequestObject.Command.allCases.map(\.rawValue).filter { !stateChanges.contains($0) }
        let fields = RequestField.all.map(\.name)
        let refusedRequests = HostileRequests.values.filter { $0 != "null" }.flatMap { value in
            stateChanges.map { HostileRequests.line($0, "limit", value) }
        }
        // A redaction with the value 1.5 would be valid.
        let redactions = HostileRequests.values.filter { $0 != "1.5" }.flatMap { value in
            fields.map { HostileRequests.line("strike", $0, value) }
        }
        let lines = HostileRequests.lines(commands: commands, fields: fields) + refusedRequests + redactions
        #expect(HostileRequests.unanswered(lines.shuffled(using: &generator), at: appliance.socket) == [])
        let largeClient = SocketClient(appliance.socket)
        largeClient?.send([UInt8](repeating: UInt8(ascii: "["), count: 60_000_000))
        // The recording must at least contain the whole file.
        let length = try samples(Speech.all[1]).count
        try appliance.process.wait(until: "the file has been recorded", every: .milliseconds(50)) {
            (try? samples(audio(1, of: appliance)).count) ?? 0 > length
        }
        try appliance.process.wait(until: "a stop") {
            try appliance.ask(#"{"command":"stop"}"#)?.contains("\"recording\":1") == true
        }
        // Even a busy machine loses no sample and reports no gap.
        let shown = try appliance.run("show", "1", "--format", "json").output
        #expect(shown.contains(#""gaps":[]"#), "\(shown)")
        let recorded = try samples(audio(1, of: appliance))
        #expect(recorded.starts(with: try samples(Speech.all[1])), "seed \(generator.seed)")
        #expect(recorded.dropFirst(length).allSatisfy { $0 == 0 })
        let outcome = try appliance.stop()
        // The missing model is reported, and the appliance still recorded.
        #expect(outcome.errors.contains { $0.hasPrefix("<3>fault") && $0.contains("/nonexistent/model") })
    }

    @Test("with an invalid configuration file, the appliance records and reports the errors")
    func badConfiguration() throws {
        let appliance = try ApplianceProcess(in: folder, microphone: "tone:440", isInvalid: true)
        try appliance.waitForStatus(#""code":"damaged""#)
        // The panel starts after the control socket.
        try waitUntil("the lamp shows the fault") { try appliance.lamp().contains { $0.shows == "fault" && $0.lit } }
        try appliance.press()
        try appliance.waitForStatus(#""state":"recording""#)
        try appliance.press()
        try appliance.waitForStatus(#""state":"idle""#)
        let outcome = try appliance.stop()
        #expect(outcome.errors.contains { $0.hasPrefix("<3>fault") && $0.contains("panel.style") }, "\(outcome.errors)")
        #expect(try samples(audio(1, of: appliance)).count > 0)
    }

    @Test("if the microphone was missing, a press tries again")
    func missingMicrophone() throws {
        let late = folder.file("late.wav")
        let appliance = try ApplianceProcess(in: folder, microphone: "file:\(late)")
        try appliance.waitForStatus(#""state":"faulted""#)
        let refused = try appliance.run("start")
        #expect(refused.status != 0 && refused.errors.first?.contains("late.wav") ?? false, "\(refused)")
        #expect(rename(try Speech.joined(in: folder), late) == 0)
        try appliance.press()
        try appliance.waitForStatus(#""state":"recording""#)
        #expect(try appliance.run("stop").status == 0)
        #expect(try appliance.stop().status == 0)
    }

    @Test("an unusable button is reported, and commands still record")
    func unusableButton() throws {
        let appliance = try ApplianceProcess(
            in: folder, microphone: "tone:440", button: "gpio:no-such-line")
        try appliance.waitForStatus("no-such-line")
        // The lamp does not wait for the button.
        try appliance.process.wait(until: "the lamp shows a fault") {
            try appliance.lamp().contains { $0.shows == "fault" && $0.lit }
        }
        #expect(try appliance.run("start").status == 0)
        #expect(try appliance.run("stop").status == 0)
        #expect(try appliance.stop().status == 0)
    }
}
