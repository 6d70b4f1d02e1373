import Testing

@testable import Appliance
@testable import Core

@Suite("The lamp for the recorder's state") struct LampTests {
    /// Returns the changes of a lamp that is updated at each input and whenever its pattern requests an update. Times
    /// are in milliseconds.
    private func history(_ inputs: [(Int, RecorderInput.Kind)], until end: Int) -> [String] {
        var state = RecorderState()
        var history: [String] = []
        var remainingInputs = inputs[...]
        var now = Duration.zero
        var lit = false
        // wait: simulated time
        while now <= .milliseconds(end) {
            while let (time, kind) = remainingInputs.first, .milliseconds(time) <= now {
                _ = state.handle(RecorderInput(kind, at: RecorderMoment(monotonic: .milliseconds(time))))
                remainingInputs = remainingInputs.dropFirst()
            }
            let next = LampPattern(for: state).next(after: now)
            if next.lit != lit {
                lit = next.lit
                history.append("\(lit ? "on" : "off") \(Int(now / .milliseconds(1)))")
            }
            let nextInput = remainingInputs.first.map { Duration.milliseconds($0.0) }
            guard let nextTime = [next.until, nextInput].compactMap({ $0 }).min() else { break }
            #expect(nextTime > now)
            now = nextTime
        }
        return history
    }

    private let opening: [(Int, RecorderInput.Kind)] = [
        (0, .command(.start, nil)), (0, .opened(attempt: 1, recording: 1)),
        (0, .begun(1, RecorderInput.HealthCheck())),
    ]

    private func written(_ milliseconds: Int, of id: Int = 1) -> (Int, RecorderInput.Kind) {
        (milliseconds, .checked(id, RecorderInput.HealthCheck(syncedAt: .milliseconds(milliseconds))))
    }

    private func stop(_ milliseconds: Int) -> (Int, RecorderInput.Kind) {
        (milliseconds, .command(.stop, nil))
    }

    @Test("an idle lamp requests no updates")
    func idle() {
        #expect(LampPattern(for: RecorderState()).next(after: .zero).until == nil)
        #expect(history([], until: 100_000) == [])
    }

    @Test("the lamp is steady from the first bytes until 3 s after the last")
    func steady() {
        #expect(
            history(opening + [written(400), written(1_400), written(2_400)], until: 60_000)
                == ["on 400", "off 5400"])
        #expect(
            history(opening + [written(400), written(5_000), stop(6_000)], until: 9_000)
                == ["on 400", "off 3400", "on 5000", "off 6000"])
        // The 3 s begin when the bytes reach the disk, not when that is reported.
        let lateReport = (2_000, RecorderInput.Kind.checked(1, RecorderInput.HealthCheck(syncedAt: .milliseconds(400))))
        #expect(history(opening + [lateReport], until: 9_000) == ["on 2000", "off 3400"])
    }

    @Test("the lamp is off while the microphone is disconnected")
    func microphone() {
        let disconnected = RecorderInput.HealthCheck(syncedAt: .milliseconds(400), microphoneIsAlive: false)
        #expect(
            history(
                opening + [written(400), (1_000, .checked(1, disconnected)), written(2_000), stop(2_100)], until: 9_000)
                == ["on 400", "off 1000", "on 2000", "off 2100"])
    }

    @Test("a new recording does not show the state of the previous one")
    func newRecording() {
        let disconnected = RecorderInput.HealthCheck(syncedAt: .milliseconds(100), microphoneIsAlive: false)
        let twoRecordings: [(Int, RecorderInput.Kind)] = [
            (200, .checked(1, disconnected)), stop(300), (350, .ended(1, .complete)), (400, .command(.start, nil)),
            (450, .opened(attempt: 2, recording: 2)), written(500), written(900, of: 2), stop(1_000),
        ]
        #expect(
            history(opening + [written(100)] + twoRecordings, until: 9_000)
                == ["on 100", "off 200", "on 900", "off 1000"])
    }

    @Test("the lamp blinks for a mark")
    func mark() {
        let marked = RecorderInput.Kind.marked(.success(Recorder.Answer(recording: 1)), nil)
        #expect(
            history(opening + [written(1), (1_000, marked), stop(2_000)], until: 9_000)
                == ["on 1", "off 1000", "on 1200", "off 2000"])
    }

    @Test("the lamp shows a fault until it is acknowledged, and then the state of the recording")
    func fault() {
        let fault = RecorderInput.Kind.event(.fault(code: "full", message: ""))
        let acknowledge = RecorderInput.Kind.button(.pressed(at: .milliseconds(1_250)))
        #expect(
            history(opening + [written(1), (1_000, fault), (1_250, acknowledge), stop(2_000)], until: 9_000)
                == ["on 1", "off 1100", "on 1200", "off 2000"])
    }

    @Test("the lamp shows an export, then for 3 s that it is done, and then the remaining transcription")
    func export() {
        let inputs: [(Int, RecorderInput.Kind)] = [
            (0, .command(.start, nil)), (0, .opened(attempt: 1, recording: 1)), (0, .closed(1)),
            (0, .event(.export(.started, folder: "", message: ""))),
            (1_000, .event(.export(.finished, folder: "", message: ""))), (6_500, .ended(1, .complete)),
        ]
        #expect(
            history(inputs, until: 20_000) == [
                "on 0", "off 100", "on 250", "off 350", "on 1000",
                // The pulse began with the transcription, at 0.
                "off 5000", "on 6000", "off 6500",
            ])
    }
}
