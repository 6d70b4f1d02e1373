import Core

/// Something that went wrong, and when.
struct RecorderFault: Hashable, Sendable {
    var code: String
    var message: String
    var moment: RecorderMoment
}
