import Audio
import Core
import System

/// Streams an encoded file without storing it, although encoders complete its beginning last.
///
/// A tar states a file's length before its bytes, so the sound is encoded twice: first measured, then passed on and compared with
/// the measurement. Used on one thread.
final class EncodedAudio: SeekableBytes {
    /// Encoders rewrite at most this many bytes at the beginning.
    private static let headLimit = 65_536

    struct Measure: Equatable {
        var length: Int64
        /// The final beginning.
        var head: [UInt8]
        /// SHA-256 of the rest.
        var rest: String
    }

    private let expected: Measure?
    private let pass: (UnsafeRawBufferPointer) throws(DeviceError) -> Void
    private var head: [UInt8] = []
    private var rest = Digest()
    private var whole = Digest()
    private(set) var length: Int64 = 0
    private var hasPassedHead = false

    /// - Parameters:
    ///   - expected: the measurement; nil measures only.
    ///   - pass: called with the bytes in order.
    init(
        expected: Measure? = nil, pass: @escaping (UnsafeRawBufferPointer) throws(DeviceError) -> Void = { _ in }
    ) {
        self.expected = expected
        self.pass = pass
    }

    func read(into target: UnsafeMutableRawBufferPointer, at offset: Int64) throws(DeviceError) -> Int {
        guard offset >= 0, offset <= head.count else { throw Self.unsteady }
        let count = min(target.count, head.count - Int(offset))
        target.copyBytes(from: head[Int(offset)..<Int(offset) + count])
        return count
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(DeviceError) {
        guard offset >= 0, offset <= length else { throw Self.unsteady }
        var bytes = bytes
        var place = offset
        if place < Int64(Self.headLimit) {
            let count = min(bytes.count, Self.headLimit - Int(place))
            let start = Int(place)
            head.replaceSubrange(start..<min(start + count, head.count), with: bytes[..<count])
            length = max(length, Int64(head.count))
            bytes = UnsafeRawBufferPointer(rebasing: bytes[count...])
            place += Int64(count)
        }
        if bytes.isEmpty { return }
        guard place == length else { throw Self.unsteady }
        try passHead()
        rest.add(bytes)
        try give(bytes)
        length += Int64(bytes.count)
    }

    /// Ends the file after the encoder has finished.
    ///
    /// - Returns: the measurement, and the SHA-256 of the whole file that was passed on.
    /// - Throws: `DeviceError` if the measurement differs from the expected one.
    func finish() throws(DeviceError) -> (measure: Measure, digest: String) {
        try passHead()
        let measure = Measure(length: length, head: head, rest: rest.finish())
        if let expected, measure != expected { throw Self.unsteady }
        return (measure, whole.finish())
    }

    private func passHead() throws(DeviceError) {
        guard !hasPassedHead else { return }
        hasPassedHead = true
        guard let expected else { return }
        try rethrowing { try expected.head.withUnsafeBytes { try give($0) } }
    }

    private func give(_ bytes: UnsafeRawBufferPointer) throws(DeviceError) {
        guard expected != nil else { return }
        whole.add(bytes)
        try pass(bytes)
    }

    private static let unsteady = DeviceError(
        .failed, "encode", "encoding the sound twice gave different results", remedy: "try export.audio = wav")
}
