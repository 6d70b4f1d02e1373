@testable import Core
@testable import Recognition

/// Fuzzes a decode worker's replies, in chunks whose size is the first byte.
@_cdecl("LLVMFuzzerTestOneInput") public func fuzz(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
    let bytes = UnsafeBufferPointer(start: data, count: size)
    guard let first = bytes.first else { return 0 }
    let samples = Int(first) * 1_000
    var replies = WorkerReplies()
    for start in stride(from: 1, to: size, by: max(1, Int(first))) {
        replies.append(bytes[start..<min(size, start + max(1, Int(first)))])
        do {
            while let reply = try replies.next(within: samples) { check(reply, samples) }
        } catch { continue }
    }
    return 0
}

private func check(_ reply: WorkerProtocol.Reply, _ samples: Int) {
    var start = SamplePosition.zero
    for word in reply.result?.words ?? [] {
        precondition(!word.text.isEmpty && !word.text.contains("\n") && (0...1).contains(word.confidence))
        precondition(start <= word.range.start && word.range.start <= word.range.end)
        precondition(word.range.end.samples <= samples)
        // Words do not overlap.
        start = word.range.end
    }
}
