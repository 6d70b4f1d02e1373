/// Identifies a caller that waits for the result of an order; each is answered once.
struct RecorderTicket: Hashable, Sendable {
    var number: Int
}
