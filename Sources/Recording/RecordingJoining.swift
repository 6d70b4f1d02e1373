import Core
import Glibc
import Platform

/// Joins the parts of the recording in a folder into one durable `audio.wav`; see `RecordingPart`.
///
/// The files it was joined from are set aside as `audio.aside-000123456.wav`, none is deleted. Safe against a kill at
/// any moment, and to be called again: where there is nothing left to join it does nothing. Not while the recording is
/// being written.
/// - Returns: whether there were parts.
/// - Throws: `DeviceError`, `full` where there is no room for the whole; the parts are then as they were, and read as
///   one.
@discardableResult
package func joinParts(inFolder folder: String) throws(DeviceError) -> Bool {
    try joinParts(of: "\(folder)/audio.wav")
}

func joinParts(of audio: String) throws(DeviceError) -> Bool {
    let parts = RecordingPart.all(beside: audio)
    guard !parts.isEmpty else { return false }
    let original = try WaveLayout(of: FileDescriptor(opening: audio, O_RDONLY))
    if !original.isJoined {
        let joined = "\(audio).joining"
        // What a join left that was cut short: made anew, since nobody knows how far it had come.
        unlink(joined)
        do throws(DeviceError) { try writeJoined(joined, from: try RecordingReader(path: audio)) } catch {
            unlink(joined)
            throw error
        }
        // A second name first: at no moment is there no `audio.wav`.
        try setAside(
            audio, as: { RecordingPart.aside(audio, start: .zero, turn: $0) }, by: { link($0, $1) }, named: "link")
        guard rename(joined, audio) == 0 else { throw .system("rename", on: audio) }
        try syncFolder(containing: audio)
    }
    for part in parts {
        try setAside(
            part.path, as: { RecordingPart.aside(audio, start: part.start, turn: $0) }, by: renameNew, named: "rename")
    }
    try syncFolder(containing: audio)
    return true
}

private func writeJoined(_ path: String, from reader: RecordingReader) throws(DeviceError) {
    let file = try WaveFile(creating: path)
    let end = try reader.length
    let buffer = UnsafeMutableBufferPointer<Int16>.allocate(capacity: 256 * 1024)
    defer { buffer.deallocate() }
    while file.end < end {
        let count = try reader.read(at: file.end, into: buffer)
        guard count > 0 else { throw DeviceError(.damaged, "read", "\(path): a part of the recording cannot be read") }
        let samples = UnsafeBufferPointer(rebasing: buffer[..<count])
        // What was a hole stays one.
        if isSilence(samples) { try file.appendSilence(count) } else { try file.append(samples) }
    }
    file.setJoined()
    try file.close(reason: reader.stopReason ?? .cutShort)
}

private func isSilence(_ samples: UnsafeBufferPointer<Int16>) -> Bool {
    guard let base = samples.baseAddress, samples.first == 0 else { return false }
    // All alike, and the first is zero.
    return memcmp(base, base + 1, (samples.count - 1) * MemoryLayout<Int16>.size) == 0
}

/// Gives a file a name that no other has.
private func setAside(
    _ path: String, as name: (Int) -> String, by call: (String, String) -> Int32, named operation: String
) throws(DeviceError) {
    for turn in 1...1_000 {
        let aside = name(turn)
        if call(path, aside) == 0 { return }
        guard errno == EEXIST else { throw .system(operation, on: path) }
        // Set aside before a kill: it has this name already.
        if isSame(path, aside) { return }
    }
    throw DeviceError(.failed, operation, "\(path): cannot be set aside; move the other files of its folder away")
}

private func renameNew(_ path: String, _ name: String) -> Int32 {
    if access(name, F_OK) == 0 {
        errno = EEXIST
        return -1
    }
    return rename(path, name)
}

private func isSame(_ first: String, _ second: String) -> Bool {
    var (one, other) = (stat(), stat())
    return stat(first, &one) == 0 && stat(second, &other) == 0 && one.st_ino == other.st_ino
        && one.st_dev == other.st_dev
}
