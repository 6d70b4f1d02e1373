import Core

extension LampPattern {
    /// Creates the pattern that the lamp shows in a state.
    ///
    /// During a recording, a steady lamp means that the recording is safe: the lamp is steady only while the microphone
    /// is connected, and only for three seconds after bytes have reached the disk.
    init(for state: RecorderState) {
        var layers: [Layer] = []
        if case .recording(let recording) = state.phase {
            if let since = recording.pausedSince {
                layers = [Layer(.paused, since: since)]
            } else if recording.microphoneIsAlive, case .written(let time) = recording.disk {
                layers = [Layer(.steady, since: time, until: time + Self.diskTimeout)]
            }
        } else {
            switch state.export {
            case .none: break
            case .running(let since): layers = [Layer(.doubleBlink, since: since)]
            case .done(let time): layers = [Layer(.done, since: time, until: time + Self.doneDuration)]
            case .refused(let time): layers = [Layer(.refused, since: time, until: time + Self.refusedDuration)]
            }
            if let since = state.transcribingSince { layers.append(Layer(.pulse, since: since)) }
            if let since = state.openSince { layers.append(Layer(.open, since: since)) }
            if let since = state.laptopSince { layers.append(Layer(.doubleFlash, since: since)) }
        }
        var faultSince: Duration?
        if case .raised(let since, _) = state.alarm { faultSince = since }
        self.init(
            layers, faultSince: faultSince, blinks: state.markedAt.map { [$0..<$0 + Self.markBlink] } ?? [])
    }
}
