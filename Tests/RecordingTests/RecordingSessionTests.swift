import Glibc
import Testing
import TestKit

@testable import Audio
@testable import Core
@testable import System

@Suite struct RecordingSessionTests {
    let folder = TemporaryFolder()
    var path: String { folder.file("audio.wav") }

    /// Settings without real-time priority, with which tests would starve other processes.
    private func settings(ringSeconds: Double = 1, syncSeconds: Double = 1) -> RecordingSession.Settings {
        var settings = RecordingSession.Settings()
        settings.ringSeconds = ringSeconds
        settings.syncSeconds = syncSeconds
        settings.realtimePriority = nil
        return settings
    }

    private func session(
        _ microphone: ScriptedMicrophone, _ settings: RecordingSession.Settings? = nil,
        sink: any RecordingSink = RecordingLog()
    ) -> ScriptedRecording {
        ScriptedRecording(microphone: microphone, path: path, settings: settings ?? self.settings(), sink: sink)
    }

    @Test("a microphone faster than real time loses nothing, even with a small ring")
    func backpressure() async throws {
        let log = RecordingLog()
        let input = numbered(160_001)
        let session = session(ScriptedMicrophone([.samples(input)]), settings(ringSeconds: 0.05), sink: log)
        let result = try await session.run()
        #expect(result == RecordingResult(length: SamplePosition(160_001), reason: .ended))
        #expect(try samples(of: path) == input)
        #expect(log.entries.last == .closed(160_001, .ended))
        let written = log.entries.compactMap { if case .written(let position) = $0 { position } else { nil } }
        #expect(written == written.sorted())
        #expect(written.last == 160_001)
    }

    @Test("a file deleted during the recording is reported once, with a command that saves its audio")
    func deletedFile() async throws {
        let log = RecordingLog()
        var settings = settings()
        settings.faults = { operation, path throws(DeviceError) in if operation == .sync { unlink(path) } }
        let microphone = ScriptedMicrophone([.samples(numbered(160_000)), .ended])
        let result = try await session(microphone, settings, sink: log).run()
        #expect(result.length == SamplePosition(160_000))
        #expect(log.messages.count == 1, "\(log.messages)")
        let message = log.messages.first ?? ""
        #expect(message.contains("was deleted") && message.contains("cp /proc/"), "\(message)")
    }

    @Test("audio reported as written can be read, and audio reported as synced is in the header")
    func accurateReports() async throws {
        let path = path
        let falseReports = FalseReports()
        let log = RecordingLog { entry in
            switch entry {
            case .written(let position):
                let length = try? RecordingReader(path: path).length
                if length.map({ $0.samples < position }) ?? true { falseReports.add(entry) }
            case .synced(let position):
                if shell("sox --i -s \(path)").output != "\(position)" { falseReports.add(entry) }
            default: break
            }
        }
        let session = session(
            ScriptedMicrophone([.samples(numbered(8000))]), settings(ringSeconds: 0.1, syncSeconds: 0), sink: log)
        _ = try await session.run()
        #expect(log.entries.contains { if case .synced = $0 { true } else { false } })
        #expect(falseReports.entries.withLock { $0 } == [])
    }

    @Test("a requested sync does not wait for the next scheduled one")
    func syncsOnRequest() async throws {
        let (firstSync, requestedSync) = (Wakeup(), Wakeup())
        let log = RecordingLog { entry in
            guard case .synced(let position) = entry else { return }
            if position <= 1_000 { firstSync.signal() }
            if position >= 2_500 { requestedSync.signal() }
        }
        let holder = SessionHolder()
        let session = session(
            ScriptedMicrophone(
                isRealTime: true,
                [
                    // These samples are synced immediately, the next ones in an hour.
                    .samples(numbered(1_000)), .perform { firstSync.wait(timeout: .seconds(300)) },
                    .samples(numbered(from: 1_000, 2_000)),
                    .perform {
                        holder.session.withLock { $0 }?.sync(upTo: SamplePosition(2_500))
                        requestedSync.wait(timeout: .seconds(300))
                    },
                    .samples(numbered(from: 3_000, 1_000)),
                ]), settings(ringSeconds: 30, syncSeconds: 3_600), sink: log)
        holder.session.withLock { $0 = session.session }
        #expect(try await session.run() == RecordingResult(length: SamplePosition(4_000), reason: .ended))
        // The request may arrive while the writer is processing a block, so any of these positions is valid.
        let wasSyncedEarly = log.entries.contains { if case .synced(2_500..<4_000) = $0 { true } else { false } }
        #expect(wasSyncedEarly)
        #expect(try samples(of: path) == numbered(4_000))
    }

    @Test("a stop from another thread ends the recording; the first reason counts")
    func stops() async throws {
        let progress = RecordingProgress()
        let session = session(ScriptedMicrophone([.forever(numbered(30_000))]), sink: ProgressSink(progress: progress))
        async let running = session.run()
        guard case .available = await progress.next(after: SamplePosition(40_000)) else {
            Issue.record("the recording ended on its own")
            return
        }
        session.session.stop(reason: .button)
        session.session.stop(reason: .command)
        let result = try await running
        #expect(result.reason == .button)
        #expect(result.gaps == [])
        #expect(try RecordingReader(path: path).stopReason == .button)
        #expect(try samples(of: path) == numbered(Int(result.length.samples)))
        #expect(await progress.next(after: result.length) == .ended(at: result.length))
    }

    @Test("a block that is being read when the recording is stopped is in the file")
    func stopLosesNothing() async throws {
        let stopper = SessionHolder()
        let session = session(
            ScriptedMicrophone(
                isRealTime: true,
                [.samples(numbered(100)), .perform { stopper.stop() }, .samples(numbered(from: 100, 50))]))
        stopper.session.withLock { $0 = session.session }
        let result = try await session.run()
        #expect(result == RecordingResult(length: SamplePosition(150), reason: .button))
        #expect(try samples(of: path) == numbered(150))
    }

    @Test("a cancelled task closes its file as a shutdown does")
    func cancelled() async throws {
        let progress = RecordingProgress()
        let session = session(ScriptedMicrophone([.forever(numbered(30_000))]), sink: ProgressSink(progress: progress))
        let result = try await withThrowingTaskGroup(of: RecordingResult.self) { group in
            group.addTask { try await session.run() }
            _ = await progress.next(after: SamplePosition(1))
            group.cancelAll()
            return try await group.next()
        }
        #expect(result?.reason == .shutdown)
        #expect(try RecordingReader(path: path).stopReason == .shutdown)
    }

    @Test("a failing microphone leaves a closed file and its error in the result")
    func microphoneFails() async throws {
        let unplugged = DeviceError(.disconnected, "snd_pcm_readi", status: 19, "scripted: is gone; plug it in")
        let session = session(ScriptedMicrophone([.samples(numbered(1000)), .failure(unplugged)]))
        let result = try await session.run()
        #expect(result == RecordingResult(length: SamplePosition(1000), reason: .error, error: unplugged))
        #expect(try samples(of: path) == numbered(1000))
        #expect(try RecordingReader(path: path).stopReason == .error)
    }

    @Test("a microphone that cannot be opened leaves no file")
    func microphoneCannotOpen() async throws {
        let missing = DeviceError(.missing, "snd_pcm_open", "scripted: is not there; plug it in")
        let session = session(ScriptedMicrophone(isRealTime: true, [.refusal(missing)]))
        await #expect(throws: missing) { try await session.run() }
        #expect(access(path, F_OK) != 0)
    }

    @Test("if the file cannot be created, the session throws the error", arguments: [true, false])
    func fileCannotBeCreated(isRealTime: Bool) async throws {
        try durableReplace(path: path, with: "another recording")
        let session = session(ScriptedMicrophone(isRealTime: isRealTime, [.forever([1])]))
        let error = await thrown { _ = try await session.run() }
        #expect(error?.status == EEXIST)
    }

    @Test("lost samples become silence of the same length, and are reported before later samples")
    func gaps() async throws {
        let log = RecordingLog()
        let session = session(
            ScriptedMicrophone([
                .lost(5), .samples(numbered(10)), .lost(20), .lost(30), .samples(numbered(from: 60, 40)), .lost(7),
            ]), sink: log)
        let result = try await session.run()
        let gaps = [gap(0, 5, .overrun), gap(15, 65, .overrun), gap(105, 112, .overrun)]
        #expect(result == RecordingResult(length: SamplePosition(112), reason: .ended, gaps: gaps))
        let silence = { [Int16](repeating: 0, count: $0) }
        #expect(
            try samples(of: path)
                == silence(5) + numbered(10) + silence(50) + numbered(from: 60, 40) + silence(7))
        #expect(log.entries.compactMap { if case .lost(let gap) = $0 { gap } else { nil } } == gaps)
        let entries = log.entries
        let reportIndex = try #require(entries.firstIndex(of: .lost(gaps[1])))
        #expect(
            entries[..<reportIndex].allSatisfy { if case .written(let position) = $0 { position <= 15 } else { true } })
    }

    @Test("a stall longer than the ring loses exactly the samples that did not fit")
    func diskStalls() async throws {
        let (stalled, proceed, recovered) = (Wakeup(), Wakeup(), Wakeup())
        let log = RecordingLog { entry in
            if entry == .written(1600) {
                stalled.signal()
                proceed.wait()
            }
            if entry == .synced(16_000) { recovered.signal() }
        }
        var script: [ScriptedMicrophone.Step] = [.samples(numbered(1600)), .perform { stalled.wait() }]
        script += (1..<21).map { .samples(numbered(from: $0 * 1600, 1600)) }
        script += [
            .perform {
                proceed.signal()
                recovered.wait()
            }, .samples(numbered(from: 21 * 1600, 1600)),
        ]
        let session = session(ScriptedMicrophone(isRealTime: true, script), sink: log)
        let result = try await session.run()
        #expect(result.gaps == [gap(10 * 1600, 21 * 1600, .disk)])
        #expect(result.length == SamplePosition(22 * 1600))
        #expect(
            try samples(of: path)
                == numbered(10 * 1600) + [Int16](repeating: 0, count: 17_600) + numbered(from: 21 * 1600, 1600))
    }

    @Test("even a few samples are written immediately")
    func fewSamples() async throws {
        let written = Wakeup()
        let log = RecordingLog { if $0 == .written(10) { written.signal() } }
        let session = session(
            ScriptedMicrophone(isRealTime: true, [.samples(numbered(10)), .perform { written.wait() }]), sink: log)
        #expect(try await session.run().length == SamplePosition(10))
        #expect(log.entries.first == .written(10))
    }

    @Test("the level is reported only if requested", arguments: [true, false])
    func level(isRequested: Bool) async throws {
        let log = RecordingLog(wantsLevel: isRequested)
        let loud = (0..<1600).map { Int16($0 % 2 == 0 ? 16_384 : -16_384) }
        let session = session(
            ScriptedMicrophone([.samples(loud + [Int16](repeating: 0, count: 1600) + [.min])]), sink: log)
        _ = try await session.run()
        let levels = log.entries.compactMap { if case .level(let rms, let peak) = $0 { [rms, peak] } else { nil } }
        #expect(levels.count == (isRequested ? 2 : 0))
        if isRequested {
            #expect(levels[0].allSatisfy { abs($0 + 6.0206) < 0.001 })
            #expect(levels[1] == [-96, -96])
        }
    }
}
