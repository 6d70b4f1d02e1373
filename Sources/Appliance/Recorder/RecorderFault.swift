struct RecorderFault: Hashable, Sendable {
    var code: String
    var message: String
    var moment: RecorderMoment
}
