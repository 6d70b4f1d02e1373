/// The lamp's output over time: whether it is lit, and when that may change next. A steady lamp causes no wakeups.
package struct LampPattern: Hashable, Sendable {
    /// A mode of the lamp. The raw value is its name on the control socket.
    package enum Mode: String, Sendable, CaseIterable {
        case off
        /// Recording, and the disk and the microphone work.
        case steady
        /// A short flash every 3 s.
        case paused
        /// Still transcribing: 1 s on, 1 s off.
        case pulse
        /// Exporting: two blinks per second.
        case doubleBlink
        /// The stick can be unplugged: 3 s on, then off.
        case done
        /// The stick was refused: three blinks every 1.5 s, four times.
        case refused
        /// Idle, and a laptop is connected: two short blinks every 3 s.
        case doubleFlash
        /// Idle, and encrypted recordings are open: three short blinks every 3 s.
        case open
    }

    /// A mode, and the time during which it may be shown.
    package struct Layer: Hashable, Sendable {
        var mode: Mode
        /// When the mode begins, on the monotonic clock.
        var since: Duration
        /// When the mode ends, on the monotonic clock; nil if it lasts until the next pattern.
        var until: Duration?

        package init(_ mode: Mode, since: Duration, until: Duration? = nil) {
            self.mode = mode
            self.since = since
            self.until = until
        }
    }

    /// The length of the blink for a bookmark.
    package static let markBlink = Duration.milliseconds(200)
    /// The length of the blink that acknowledges a press.
    package static let pressBlink = Duration.milliseconds(60)
    /// How long the lamp shows `steady` after the last report that the disk works.
    package static let diskTimeout = Duration.seconds(3)
    package static let doneDuration = Duration.seconds(3)
    package static let refusedDuration = Duration.seconds(6)

    private let layers: [Layer]
    private let faultSince: Duration?
    private var blinks: [Range<Duration>]

    /// - Parameters:
    ///   - layers: The pattern shows the first layer that has not ended. If there is none, the lamp is off.
    ///   - faultSince: When a fault began; nil if there is no fault. A fault overrides everything with five blinks per
    ///     second.
    ///   - blinks: The times during which the level is inverted.
    package init(_ layers: [Layer] = [], faultSince: Duration? = nil, blinks: [Range<Duration>] = []) {
        self.layers = layers
        self.faultSince = faultSince
        self.blinks = blinks
    }

    package var isFaulted: Bool { faultSince != nil }

    /// Returns the mode at a time, ignoring faults.
    package func mode(at now: Duration) -> Mode { layer(at: now)?.mode ?? .off }

    /// Returns the pattern with an added blink, which inverts the level.
    package func blinking(at time: Duration, for length: Duration) -> LampPattern {
        var pattern = self
        pattern.blinks.append(time..<time + max(length, .zero))
        return pattern
    }

    /// Returns whether the lamp is lit at a time, and when that may change next; nil if it will not change.
    package func next(after now: Duration) -> (lit: Bool, until: Duration?) {
        if let faultSince { return Self.cycle([100, 100], since: faultSince, now) }
        let layer = layer(at: now)
        var (lit, until) = layer.map { Self.level(of: $0, at: now) } ?? (false, nil)
        if blinks.contains(where: { $0.contains(now) }) { lit.toggle() }
        let changes = blinks.flatMap { [$0.lowerBound, $0.upperBound] }.filter { $0 > now }
        until = ([until, layer?.until].compactMap { $0 } + changes).min()
        return (lit, until)
    }

    private func layer(at now: Duration) -> Layer? { layers.first { layer in layer.until.map { now < $0 } ?? true } }

    private static func level(of layer: Layer, at now: Duration) -> (lit: Bool, until: Duration?) {
        switch layer.mode {
        case .off: return (false, nil)
        case .steady: return (true, nil)
        case .paused: return cycle([100, 2_900], since: layer.since, now)
        case .pulse: return cycle([1_000, 1_000], since: layer.since, now)
        case .doubleBlink: return cycle([100, 150, 100, 650], since: layer.since, now)
        case .refused: return cycle([100, 150, 100, 150, 100, 900], since: layer.since, now)
        case .open: return cycle([100, 200, 100, 200, 100, 2_300], since: layer.since, now)
        case .doubleFlash: return cycle([100, 200, 100, 2_600], since: layer.since, now)
        case .done:
            let end = layer.since + doneDuration
            return now < end ? (true, end) : (false, nil)
        }
    }

    /// Returns the level in a repeating cycle that alternates between on and off, starting with on.
    ///
    /// - Parameter milliseconds: The lengths of the on and off times.
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
