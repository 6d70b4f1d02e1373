import Audio
import Core
import Glibc
import System

/// SHA-256 of a recording's samples, interleaved if stereo, which identifies files made from them. Blocks while it reads.
///
/// - Parameter shouldContinue: called repeatedly; stops if it returns false.
/// - Throws: `DeviceError` if the samples cannot be read; with `ECANCELED` if it was stopped.
func soundDigest(
    of audio: String, length: SamplePosition, shouldContinue: () -> Bool = { true }
) throws(DeviceError) -> String {
    let reader = try RecordingReader(path: audio)
    let room = UnsafeMutableBufferPointer<Int16>.allocate(capacity: 65_536)
    defer { room.deallocate() }
    let channels = reader.channels
    var digest = Digest()
    var position = SamplePosition.zero
    while position < length {
        guard shouldContinue() else { throw DeviceError(.failed, "digest", status: ECANCELED, "was interrupted") }
        let wanted = UnsafeMutableBufferPointer(
            rebasing: room[..<(channels * Int(min(65_536 / Int64(channels), length - position)))])
        let count = try reader.readFrames(at: position, into: wanted)
        if count == 0 { break }
        digest.add(UnsafeRawBufferPointer(UnsafeMutableBufferPointer(rebasing: room[..<(count * channels)])))
        position = position + Int64(count)
    }
    return digest.finish()
}
