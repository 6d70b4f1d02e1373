/// Stands for somebody who waits for what an order comes to; each is answered once.
struct RecorderTicket: Hashable, Sendable {
    var number: Int
}
