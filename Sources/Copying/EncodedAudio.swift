import Audio
import Core
import System

/// Streams an encoded file without storing it, although encoders rewrite its beginning when they finish.
///
/// A tar header states the length of the file that follows, so the sound is encoded twice: first to measure it, then to
/// forward the bytes and compare them with the measurement. Used on one thread.
final class EncodedAudio: SeekableBytes {
    /// The number of bytes at the beginning that encoders may rewrite.
    private static let headLimit = 65_536

    struct Measurement: Equatable {
        var length: Int64
        /// The first bytes in their final form.
        var head: [UInt8]
        /// The SHA-256 of the remaining bytes.
        var restDigest: String
    }

    private let expected: Measurement?
    private let forward: (UnsafeRawBufferPointer) throws(DeviceError) -> Void
    private var head: [UInt8] = []
    private var restDigest = Digest()
    private var wholeDigest = Digest()
    private(set) var length: Int64 = 0
    private var hasForwardedHead = false

    /// - Parameters:
    ///   - expected: the measurement; nil to measure only.
    ///   - forward: called with the bytes in order if there is a measurement.
    init(
        expected: Measurement? = nil,
        forward: @escaping (UnsafeRawBufferPointer) throws(DeviceError) -> Void = { _ in }
    ) {
        self.expected = expected
        self.forward = forward
    }

    func read(into target: UnsafeMutableRawBufferPointer, at offset: Int64) throws(DeviceError) -> Int {
        guard offset >= 0, offset <= head.count else { throw Self.mismatch }
        let count = min(target.count, head.count - Int(offset))
        target.copyBytes(from: head[Int(offset)..<Int(offset) + count])
        return count
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(DeviceError) {
        guard offset >= 0, offset <= length else { throw Self.mismatch }
        var bytes = bytes
        var position = offset
        if position < Int64(Self.headLimit) {
            let count = min(bytes.count, Self.headLimit - Int(position))
            let start = Int(position)
            head.replaceSubrange(start..<min(start + count, head.count), with: bytes[..<count])
            length = max(length, Int64(head.count))
            bytes = UnsafeRawBufferPointer(rebasing: bytes[count...])
            position += Int64(count)
        }
        if bytes.isEmpty { return }
        guard position == length else { throw Self.mismatch }
        try forwardHead()
        restDigest.add(bytes)
        try emit(bytes)
        length += Int64(bytes.count)
    }

    /// Completes the file after the encoder has finished.
    ///
    /// - Returns: the measurement, and the SHA-256 of all forwarded bytes.
    /// - Throws: `DeviceError` if the second encoding differs from the measurement.
    func finish() throws(DeviceError) -> (measurement: Measurement, digest: String) {
        try forwardHead()
        let measurement = Measurement(length: length, head: head, restDigest: restDigest.finish())
        if let expected, measurement != expected { throw Self.mismatch }
        return (measurement, wholeDigest.finish())
    }

    private func forwardHead() throws(DeviceError) {
        guard !hasForwardedHead else { return }
        hasForwardedHead = true
        guard let expected else { return }
        try rethrowing { try expected.head.withUnsafeBytes { try emit($0) } }
    }

    private func emit(_ bytes: UnsafeRawBufferPointer) throws(DeviceError) {
        guard expected != nil else { return }
        wholeDigest.add(bytes)
        try forward(bytes)
    }

    private static let mismatch = DeviceError(
        .failed, "encode", "encoding the sound twice gave different results", remedy: "try export.audio = wav")
}
