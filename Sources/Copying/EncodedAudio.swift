import Audio
import Core
import System

/// An encoded file that is kept nowhere: encoders write one from its start to its end, and complete its beginning last.
///
/// A tar names a file's length before the file, so the sound is encoded twice: once to be measured, once to be passed on. What was
/// passed on is then known to be the same. Used on one thread.
final class EncodedAudio: SeekableBytes {
    /// What encoders come back to is within so many bytes.
    private static let room = 65_536

    /// What was measured.
    struct Measure: Equatable {
        var length: Int64
        /// The beginning as the encoder left it.
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

    /// One that is measured.
    convenience init() { self.init(expected: nil, pass: { _ throws(DeviceError) in }) }

    /// One that is passed on.
    ///
    /// - Parameters:
    ///   - expected: what was measured of it before.
    ///   - pass: called with its bytes, in their order.
    init(expected: Measure?, pass: @escaping (UnsafeRawBufferPointer) throws(DeviceError) -> Void) {
        self.expected = expected
        self.pass = pass
    }

    func read(into target: UnsafeMutableRawBufferPointer, at offset: Int64) throws(DeviceError) -> Int {
        guard offset >= 0, offset <= head.count else { throw Self.unsteady }
        let count = min(target.count, head.count - Int(offset))
        for index in 0..<count { target[index] = head[Int(offset) + index] }
        return count
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(DeviceError) {
        guard offset >= 0, offset <= length else { throw Self.unsteady }
        var bytes = bytes
        var place = offset
        if place < Int64(Self.room) {
            let count = min(bytes.count, Self.room - Int(place))
            let start = Int(place)
            for index in 0..<count {
                if start + index < head.count { head[start + index] = bytes[index] } else { head.append(bytes[index]) }
            }
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

    /// What there is, once the encoder has finished; each time but the first, it is compared with what was measured.
    ///
    /// - Returns: what was measured, and the SHA-256 of the whole file as it was passed on.
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
        .failed, "encode", "the sound was not encoded twice in the same way", remedy: "try export.audio = wav")
}
