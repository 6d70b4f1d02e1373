import Core
import Digests
import Platform
import Recording

/// SHA-256 of a recording's samples, by which files that were made of it are known again. Blocks, for as long as reading takes.
///
/// - Throws: `DeviceError` where it cannot be read.
func soundDigest(of audio: String, length: SamplePosition) throws(DeviceError) -> String {
    let reader = try RecordingReader(path: audio)
    let room = UnsafeMutableBufferPointer<Int16>.allocate(capacity: 65_536)
    defer { room.deallocate() }
    var digest = Digest()
    var position = SamplePosition.zero
    while position < length {
        let wanted = UnsafeMutableBufferPointer(rebasing: room[..<Int(min(65_536, length - position))])
        let count = try reader.read(at: position, into: wanted)
        if count == 0 { break }
        digest.add(UnsafeRawBufferPointer(UnsafeMutableBufferPointer(rebasing: room[..<count])))
        position = position + Int64(count)
    }
    return digest.finish()
}
