@testable import Core
@testable import Recognition

/// Fuzzes a decode worker's replies. The first byte is the size of the chunks, and the utterance's length in thousands
/// of samples.
@_cdecl("LLVMFuzzerTestOneInput") public func fuzz(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
    let bytes = UnsafeBufferPointer(start: data, count: size)
    guard let firstByte = bytes.first else { return 0 }
    let (chunkSize, sampleCount) = (max(1, Int(firstByte)), Int(firstByte) * 1_000)
    var replies = WorkerReplies()
    for start in stride(from: 1, to: size, by: chunkSize) {
        replies.append(bytes[start..<min(size, start + chunkSize)])
        do {
            while let reply = try replies.next(within: sampleCount) { check(reply, sampleCount) }
        } catch { continue }
    }
    return 0
}

private func check(_ reply: WorkerProtocol.Reply, _ sampleCount: Int) {
    var start = SamplePosition.zero
    for word in reply.result?.words ?? [] {
        precondition(!word.text.isEmpty && !word.text.contains("\n") && (0...1).contains(word.confidence))
        precondition(start <= word.range.start && word.range.start <= word.range.end)
        precondition(word.range.end.samples <= sampleCount)
        // Words do not overlap.
        start = word.range.end
    }
}
