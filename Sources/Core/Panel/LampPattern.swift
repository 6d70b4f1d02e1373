/// The lamp's output over time: the level at each time, and when it changes next, so that a steady lamp needs no
/// wakeups.
package struct LampPattern: Hashable, Sendable {
    /// A mode of the lamp, by its name on the control socket.
    package enum Mode: String, Sendable, CaseIterable {
        /// Idle.
        case off
        /// Recording; the disk and the microphone work.
        case steady
        /// A short flash every 3 s.
        case paused
        /// Still transcribing: 1 s on, 1 s off.
        case pulse
        /// Exporting: two blinks a second.
        case doubleBlink
        /// Safe to unplug: 3 s on, then off.
        case done
        /// The stick was rejected: four times three blinks.
        case refused
        /// Idle, and a laptop is connected: two short blinks every 3 s.
        case doubleFlash
        /// Idle, and encrypted recordings are open: three short blinks every 3 s.
        case open
    }

    /// A mode for a time.
    package struct Layer: Hashable, Sendable {
        var mode: Mode
        /// When it began, on the monotonic clock.
        var since: Duration
        /// When it ends; nil if only the next pattern ends it.
        var until: Duration?

        package init(_ mode: Mode, since: Duration, until: Duration? = nil) {
            self.mode = mode
            self.since = since
            self.until = until
        }
    }

    /// How long the lamp blinks for a bookmark.
    package static let markBlink = Duration.milliseconds(200)
    /// How long the lamp blinks to answer a press.
    package static let answerBlink = Duration.milliseconds(60)
    /// The time without a report of the disk after which the lamp stops showing `steady`.
    package static let diskTimeout = Duration.seconds(3)
    package static let doneLasts = Duration.seconds(3)
    package static let refusedLasts = Duration.seconds(6)

    private let layers: [Layer]
    private let faultSince: Duration?
    private var blinks: [Range<Duration>]

    /// - Parameters:
    ///   - layers: Shows the first that has not ended; off if there is none.
    ///   - faultSince: When a fault began, which overrides everything with five blinks a second; nil without a fault.
    ///   - blinks: The times at which the level is inverted.
    package init(_ layers: [Layer] = [], faultSince: Duration? = nil, blinks: [Range<Duration>] = []) {
        self.layers = layers
        self.faultSince = faultSince
        self.blinks = blinks
    }

    package var isFaulted: Bool { faultSince != nil }

    /// The mode at a time, which a fault may override.
    package func mode(at now: Duration) -> Mode { layer(at: now)?.mode ?? .off }

    /// Returns the pattern with another blink, which inverts the level.
    package func blinking(at time: Duration, for length: Duration) -> LampPattern {
        var pattern = self
        pattern.blinks.append(time..<time + max(length, .zero))
        return pattern
    }

    /// The level at a time, and when it may change; nil if it does not.
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
            let end = layer.since + doneLasts
            return now < end ? (true, end) : (false, nil)
        }
    }

    /// Alternates on and off for these times, repeatedly.
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
