import Core

/// The recorder's state, for readers on any thread. Only the recorder's loop changes it.
struct RecorderSnapshot: Sendable {
    var state = Event.State.idle
    var live: LiveRecording?
    /// The recordings that are being recorded, closed or transcribed, by their numbers.
    var activeRecordings: [Int: LiveRecording] = [:]
    /// Whether a recording is being opened, recorded or closed.
    var isOpen = false
    var hasLaptop = false
    /// The last fault since the appliance started.
    var lastFault: RecorderFault?
}

struct RecorderFault: Hashable, Sendable {
    var code: String
    var message: String
    var moment: RecorderMoment
}
