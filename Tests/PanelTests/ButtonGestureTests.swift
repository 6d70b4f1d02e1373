import Testing

@testable import Core

@Suite("Gestures") struct ButtonGestureTests {
    @Test(
        "toggle: a press starts, a press stops, holding marks",
        arguments: [
            ("-p-r--", "-S----"),
            ("-p-r-p-r-p-r", "-S-----X-S--"),
            // 900 ms is still a press, 1 s is a hold.
            ("pr-p--------r--", "S-----------X--"),
            ("pr-p---------r---", "S------------M---"),
            ("pr-p------------r---", "S------------M------"),
            // Holding the press that started the recording has no effect.
            ("p--------------------r-pr", "S-----------------------X"),
            ("pr-p-----------r-p----------r-pr", "S------------M-------------M---X"),
        ])
    func toggle(_ line: String, _ expected: String) {
        #expect(marbles(line, .init(.toggle)) == expected)
    }

    @Test("a claimed press has no other effect; a short press or a stuck button cannot be claimed")
    func claimedPress() {
        func button(shutdown: Duration? = nil, recording: Bool = false) -> SimulatedButton {
            var button = SimulatedButton(.init(.toggle, shutdown: shutdown), recording: recording)
            _ = button.handle(.change(.init(pressed: true, time: .seconds(1))))
            return button
        }
        var idle = button(shutdown: .seconds(5))
        var claims = [idle.gesture.claim(at: .milliseconds(1_999)), idle.gesture.claim(at: .seconds(2))]
        #expect(claims == [false, true])
        var reported = idle.handle(.time(.seconds(10)))
        reported += idle.handle(.change(.init(pressed: false, time: .seconds(11))))
        claims = [idle.gesture.claim(at: .seconds(12))]
        #expect(reported.isEmpty && claims == [false])
        var recording = button(recording: true)
        _ = recording.handle(.time(.milliseconds(1_990)))
        claims = [recording.gesture.claim(at: .seconds(2))]
        reported = recording.handle(.change(.init(pressed: false, time: .seconds(3))))
        #expect(reported.isEmpty && claims == [true])
        var stuck = ButtonGesture(pressed: true)
        var overlong = button()
        _ = overlong.handle(.time(.seconds(61)))
        claims = [stuck.claim(at: .seconds(30)), overlong.gesture.claim(at: .seconds(61))]
        #expect(claims == [false, false])
    }

    @Test(
        "mark: a press starts, a press marks, holding stops",
        arguments: [
            ("-p-r--", "-S----"),
            ("pr-p-r-pr", "S----M--M"),
            ("pr-p--------r--", "S-----------M--"),
            ("pr-p------------r-p", "S------------X----S"),
        ])
    func mark(_ line: String, _ expected: String) {
        #expect(marbles(line, .init(.mark)) == expected)
    }

    @Test(
        "pause: a press pauses immediately, the release of the next press resumes, and holding stops, paused or not",
        arguments: [
            ("-p-r--", "-S----"),
            // The recording is paused from the first press until the second press is released.
            ("pr-p-r----p--r-----p", "S--P---------R-----P"),
            ("pr-p------------r-p", "S--P---------X----S"),
            ("pr-pr-p------------r-pr", "S--P------------X----S-"),
        ])
    func pause(_ line: String, _ expected: String) {
        #expect(marbles(line, .init(.pause)) == expected)
    }

    @Test("three quick presses redact the minute before them, except in the style toggle, in which a press stops")
    func redact() {
        #expect(marbles("p-rp-rp-r-pr", .init(.mark), recording: true) == "--M--M--T--M")
        #expect(marbles("pr-pr-pr---pr", .init(.pause), recording: true) == "P---R-PT----R")
        // Slow presses do not redact.
        #expect(marbles("pr------pr-------pr", .init(.pause), recording: true) == "P--------R-------P-")
        // A third press that is held keeps its usual meaning, since a redaction cannot be undone.
        #expect(marbles("pr-pr-p------------r", .init(.pause), recording: true) == "P---R-P---------X---")
        #expect(marbles("pr-pr-p------------r", .init(.mark), recording: true) == "-M--M-----------X---")
        #expect(!marbles("p-rp-rp-rp-r", .init(.toggle), recording: true).contains("T"))
        var button = SimulatedButton(.init(.mark), recording: true)
        var actions: [ButtonInterpreter.Action] = []
        for press in 0..<3 {
            actions += button.handle(.change(.init(pressed: true, time: .milliseconds(1_000 + 300 * press))))
            actions += button.handle(.change(.init(pressed: false, time: .milliseconds(1_100 + 300 * press))))
        }
        #expect(actions.contains(.redact(at: .seconds(1))))
    }

    @Test("a press that acknowledges a fault neither pauses nor resumes")
    func pauseAndFault() {
        #expect(marbles("f-p-r-pr-f-p-r-pr", .init(.pause), recording: true) == "--A---P----A----R")
    }

    @Test(
        "if shutdown is enabled, holding for 5 s while idle shuts down, and a press starts a recording on release",
        arguments: [
            ("p-r", "--S"),
            (
                "p------------------------------------------------r",
                "-------------------------------------------------S"
            ),
            (
                "p----------------------------------------------------r--",
                "--------------------------------------------------D-----"
            ),
        ])
    func shutdown(_ line: String, _ expected: String) {
        #expect(marbles(line, .init(.toggle, shutdown: .seconds(5))) == expected)
        #expect(!marbles(line, .init(.toggle)).contains("D"))
        #expect(!marbles(line, .init(.toggle, shutdown: .seconds(5)), recording: true).contains("D"))
    }

    @Test("a press acknowledges a fault; while idle it also starts a recording")
    func fault() {
        #expect(marbles("f-p-r-pr", .init(.toggle)) == "--(AS)----X")
        #expect(marbles("f-p-r-pr", .init(.toggle), recording: true) == "--A----X")
        #expect(marbles("f-p-----------r-pr", .init(.mark), recording: true) == "--A--------------M")
    }

    @Test("a stuck button is reported once and ignored until it is released")
    func stuck() {
        let settings = SimulatedButton.Settings(.toggle, stuck: .seconds(2))
        #expect(marbles("p-------------------------r-pr", settings) == "S-------------------K-----F--X")
        #expect(marbles("p-------------------------r", settings, recording: true) == "----------M---------K-----F")
    }

    @Test("a button that is pressed at the start is stuck, and its release triggers no action")
    func pressedAtStart() {
        var button = SimulatedButton(.init(.toggle), pressed: true)
        #expect(button.gesture.wakeAt == nil)
        #expect(button.handle(.time(.seconds(100))) == [])
        #expect(button.handle(.change(.init(pressed: false, time: .seconds(101)))) == [.unstuck])
        let pressed = button.gesture.handle(.change(.init(pressed: true, time: .seconds(102))))
        #expect(pressed == [.pressed(at: .seconds(102))])
        #expect(button.handle(ButtonGesture.Event.pressed(at: .seconds(102))) == [.start(at: .seconds(102))])
    }

    @Test("a press is interpreted by its times, even if they are reported late")
    func lateReports() {
        var button = SimulatedButton(.init(.toggle), recording: true)
        #expect(button.handle(.change(.init(pressed: true, time: .seconds(1)))) == [])
        // Nobody called `handle` at 2 s, when the hold was complete.
        #expect(button.handle(.change(.init(pressed: false, time: .seconds(9)))) == [.mark(at: .seconds(1))])
        _ = button.handle(.change(.init(pressed: true, time: .seconds(20))))
        #expect(
            button.handle(.change(.init(pressed: false, time: .milliseconds(20_999)))) == [.stop(at: .seconds(20))])
    }

    @Test("a wake-up is requested only for the next possible event")
    func wakeAt() {
        var gesture = ButtonGesture()
        #expect(gesture.wakeAt == nil)
        _ = gesture.handle(.change(.init(pressed: true, time: .seconds(5))))
        #expect(gesture.wakeAt == .seconds(6))
        _ = gesture.handle(.time(.seconds(6)))
        #expect(gesture.wakeAt == .seconds(65))
        _ = gesture.handle(.change(.init(pressed: false, time: .seconds(7))))
        #expect(gesture.wakeAt == nil)
    }
}
