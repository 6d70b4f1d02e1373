import Core
import Glibc
import System

/// The result of joining a recording's parts.
package enum JoinResult: Sendable {
    /// There are no parts.
    case whole
    case joined
    /// Joining was cancelled; the next call continues.
    case unfinished
}

/// Joins a recording's parts into one durable `audio.wav`; see `RecordingPart`.
///
/// The source files are renamed to `audio.aside-000000123456.wav`; none are deleted. If the process is killed at any
/// time, the next call continues. Must not be called while the recording is being written.
/// - Parameter shouldContinue: Called several times per second. Return false to stop.
/// - Throws: `DeviceError`, with `full` if there is not enough space, in which case the parts are not changed.
package func joinParts(inFolder folder: String, while shouldContinue: () -> Bool) throws(DeviceError) -> JoinResult {
    try joinParts(of: RecordingLocation("\(folder)/audio.wav"), while: shouldContinue)
}

/// - Parameter location: The location of the `audio.wav`.
func joinParts(of location: RecordingLocation, while shouldContinue: () -> Bool) throws(DeviceError) -> JoinResult {
    let folder = location.folder
    let parts = try RecordingPart.all(in: location)
    guard !parts.isEmpty else { return .whole }
    let original = try WaveLayout(of: folder.openFile(location.name, O_RDONLY))
    if !original.isJoined {
        let joiningName = "\(location.name).joining"
        do throws(DeviceError) {
            let sourceChecksum = try checksum(ofFiles: [location.name] + parts.map(\.name), in: folder)
            let file = try JoiningFile(
                joiningName, in: folder, sourceChecksum: sourceChecksum, channels: original.channels)
            guard try copy(RecordingReader(location), to: file, while: shouldContinue) else { return .unfinished }
        } catch {
            try? folder.remove(joiningName)
            throw error
        }
        // Link the original instead of renaming it, so that `audio.wav` exists at all times.
        try setAside(location.name, start: .zero, in: location) { name, newName throws(DeviceError) in
            try folder.link(name, to: folder, as: newName)
        }
        try folder.rename(joiningName, replacing: location.name)
        try folder.sync()
    }
    for part in parts {
        try setAside(part.name, start: part.start, in: location) { name, newName throws(DeviceError) in
            try folder.rename(name, toUnused: newName)
        }
    }
    try folder.sync()
    return .joined
}

/// Returns a checksum of the files' names and final lengths.
private func checksum(ofFiles names: [String], in folder: Folder) throws(DeviceError) -> UInt32 {
    var sum = AudioChecksum()
    for name in names {
        let text = Array("\(name):\(try folder.status(name)?.bytes ?? -1)\n".utf8)
        text.withUnsafeBytes { sum.add(bytes: $0) }
    }
    return sum.value
}

/// Copies the missing samples. Returns whether the copy is complete.
private func copy(
    _ reader: RecordingReader, to file: JoiningFile, while shouldContinue: () -> Bool
) throws(DeviceError) -> Bool {
    let end = try reader.length
    let buffer = UnsafeMutableBufferPointer<Int16>.allocate(capacity: 256 * 1024)
    defer { buffer.deallocate() }
    while file.end < end {
        guard shouldContinue() else {
            try file.sync()
            return false
        }
        let count = try reader.readFrames(at: file.end, into: buffer)
        guard count > 0 else {
            throw DeviceError(.damaged, "read", "\(file.name): a part of the recording cannot be read")
        }
        let samples = UnsafeBufferPointer(rebasing: buffer[..<(count * reader.channels)])
        // Preserve holes.
        if isSilence(samples) { try file.appendSilence(count) } else { try file.append(samples) }
    }
    try file.close(reason: reader.stopReason ?? .cutShort)
    return true
}

private func isSilence(_ samples: UnsafeBufferPointer<Int16>) -> Bool {
    guard let base = samples.baseAddress, samples.first == 0 else { return false }
    // Compares each sample with the next one; the first is zero.
    return memcmp(base, base + 1, (samples.count - 1) * MemoryLayout<Int16>.size) == 0
}

/// Moves a file to an unused name by calling `move`.
private func setAside(
    _ name: String, start: SamplePosition, in location: RecordingLocation,
    by move: (String, String) throws(DeviceError) -> Void
) throws(DeviceError) {
    let folder = location.folder
    for ordinal in 1...1_000 {
        let newName = RecordingPart.asideName(for: location.name, start: start, ordinal: ordinal)
        do throws(DeviceError) { return try move(name, newName) } catch {
            guard error.status == EEXIST else { throw error }
        }
        // The file was already linked to this name before the process was killed.
        if let status = try folder.status(name), let existing = try folder.status(newName),
            status.inode == existing.inode, status.device == existing.device
        {
            return
        }
    }
    throw DeviceError(
        .failed, "rename", "\(location.path(of: name)): cannot be renamed; move the other files out of its folder")
}
