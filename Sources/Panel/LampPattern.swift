/// What the lamp does from when on: a schedule that says when it next has to change, so that a lamp that rests wakes
/// nobody.
package struct LampPattern: Hashable, Sendable {
    package enum Mode: String, Sendable, CaseIterable {
        /// Idle.
        case off
        /// Recording, the disk takes it, and the microphone is alive.
        case steady
        /// Still transcribing: 1 s on, 1 s off.
        case pulse
        /// Exporting: two blinks a second.
        case doubleBlink
        /// Safe to unplug: 3 s on, then off.
        case done
    }

    /// How long the lamp blinks for a mark.
    package static let markBlink = Duration.milliseconds(200)

    /// How long the lamp blinks to answer a press.
    package static let answerBlink = Duration.milliseconds(60)

    /// What is shown where there is no fault.
    package private(set) var mode = Mode.off

    /// Whether a fault is shown: five blinks a second until it is acknowledged, whatever else goes on.
    package var isFaulted: Bool { faultSince != nil }

    private var since = Duration.zero
    private var faultSince: Duration?
    private var blink: Range<Duration>?

    package init() {}

    /// Shows a mode from `time` on; the one that is shown already goes on as it is.
    package mutating func show(_ mode: Mode, at time: Duration) {
        guard mode != self.mode else { return }
        self.mode = mode
        since = time
    }

    /// Blinks once, by the level that the lamp does not have: for a mark, or to answer a press.
    package mutating func blink(at time: Duration, for length: Duration = markBlink) {
        blink = time..<time + max(length, .zero)
    }

    /// Shows a fault until it is acknowledged.
    package mutating func fault(at time: Duration) {
        if faultSince == nil { faultSince = time }
    }

    /// Ends a fault; what was hidden by it shows again.
    package mutating func acknowledge() { faultSince = nil }

    /// The level at a moment, and when it has to be asked for again; nil where it stays until something is told.
    package func next(after now: Duration) -> (lit: Bool, until: Duration?) {
        if let faultSince { return Self.cycle([100, 100], since: faultSince, now) }
        let (lit, until) = level(at: now)
        guard let blink, now < blink.upperBound else { return (lit, until) }
        if now < blink.lowerBound { return (lit, min(until ?? blink.lowerBound, blink.lowerBound)) }
        return (!lit, min(until ?? blink.upperBound, blink.upperBound))
    }

    private func level(at now: Duration) -> (lit: Bool, until: Duration?) {
        switch mode {
        case .off: return (false, nil)
        case .steady: return (true, nil)
        case .pulse: return Self.cycle([1_000, 1_000], since: since, now)
        case .doubleBlink: return Self.cycle([100, 150, 100, 650], since: since, now)
        case .done:
            let end = since + .seconds(3)
            return now < end ? (true, end) : (false, nil)
        }
    }

    /// On and off by turns, for so many milliseconds each, again and again.
    private static func cycle(
        _ milliseconds: [Int], since: Duration, _ now: Duration
    ) -> (lit: Bool, until: Duration?) {
        let period = Duration.milliseconds(milliseconds.reduce(0, +))
        let elapsed = max(now - since, .zero)
        var end = since + period * Int(elapsed / period)
        for (index, length) in milliseconds.enumerated() {
            end += .milliseconds(length)
            if now < end { return (index.isMultiple(of: 2), end) }
        }
        return (true, end)
    }
}
