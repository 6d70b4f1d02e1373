import Core
import Glibc
import System

/// The result of joining a recording's parts.
package enum Joining: Sendable {
    /// There are no parts.
    case whole
    case joined
    /// Cancelled; the next call continues.
    case unfinished
}

/// Joins a recording's parts into one durable `audio.wav`; see `RecordingPart`.
///
/// The source files are renamed to `audio.aside-000123456.wav`; none is deleted. After a kill at any moment, the next call
/// continues. Do not call it while the recording is being written.
/// - Parameter shouldContinue: called several times per second; return false to stop.
/// - Throws: `DeviceError`, `full` if there is not enough space; the parts are then unchanged.
package func joinParts(inFolder folder: String, while shouldContinue: () -> Bool) throws(DeviceError) -> Joining {
    try joinParts(of: RecordingPlace("\(folder)/audio.wav"), while: shouldContinue)
}

/// - Parameter place: the place of its `audio.wav`.
func joinParts(of place: RecordingPlace, while shouldContinue: () -> Bool) throws(DeviceError) -> Joining {
    let folder = place.folder
    let parts = try RecordingPart.all(in: place)
    guard !parts.isEmpty else { return .whole }
    let original = try WaveLayout(of: folder.openFile(place.name, O_RDONLY))
    if !original.isJoined {
        let joined = "\(place.name).joining"
        do throws(DeviceError) {
            let sources = try sources(of: [place.name] + parts.map(\.name), in: folder)
            let file = try JoiningFile(joined, in: folder, sources: sources, channels: original.channels)
            guard try copy(RecordingReader(place), to: file, while: shouldContinue) else { return .unfinished }
        } catch {
            try? folder.remove(joined)
            throw error
        }
        // Link it first, so that `audio.wav` exists at every moment.
        try setAside(place.name, start: .zero, in: place) { name, aside throws(DeviceError) in
            try folder.link(name, to: folder, as: aside)
        }
        try folder.rename(joined, replacing: place.name)
        try folder.sync()
    }
    for part in parts {
        try setAside(part.name, start: part.start, in: place) { name, aside throws(DeviceError) in
            try folder.rename(name, toFree: aside)
        }
    }
    try folder.sync()
    return .joined
}

/// Returns a checksum of the files' names and final lengths.
private func sources(of names: [String], in folder: Folder) throws(DeviceError) -> UInt32 {
    var sum = AudioChecksum()
    for name in names {
        let text = Array("\(name):\(try folder.status(name)?.bytes ?? -1)\n".utf8)
        text.withUnsafeBytes { sum.add(bytes: $0) }
    }
    return sum.value
}

/// Copies the missing samples; returns whether the copy is complete.
private func copy(
    _ reader: RecordingReader, to file: JoiningFile, while shouldContinue: () -> Bool
) throws(DeviceError) -> Bool {
    let end = try reader.length
    let buffer = UnsafeMutableBufferPointer<Int16>.allocate(capacity: 256 * 1024)
    defer { buffer.deallocate() }
    while file.end < end {
        guard shouldContinue() else {
            try file.keep()
            return false
        }
        let count = try reader.readFrames(at: file.end, into: buffer)
        guard count > 0 else {
            throw DeviceError(.damaged, "read", "\(file.name): a part of the recording cannot be read")
        }
        let samples = UnsafeBufferPointer(rebasing: buffer[..<(count * reader.channels)])
        // Keep holes as holes.
        if isSilence(samples) { try file.appendSilence(count) } else { try file.append(samples) }
    }
    try file.close(reason: reader.stopReason ?? .cutShort)
    return true
}

private func isSilence(_ samples: UnsafeBufferPointer<Int16>) -> Bool {
    guard let base = samples.baseAddress, samples.first == 0 else { return false }
    // All samples are equal, and the first is zero.
    return memcmp(base, base + 1, (samples.count - 1) * MemoryLayout<Int16>.size) == 0
}

/// Renames a file to an unused name.
private func setAside(
    _ name: String, start: SamplePosition, in place: RecordingPlace,
    by call: (String, String) throws(DeviceError) -> Void
) throws(DeviceError) {
    let folder = place.folder
    for turn in 1...1_000 {
        let aside = RecordingPart.aside(place.name, start: start, turn: turn)
        do throws(DeviceError) { return try call(name, aside) } catch {
            guard error.status == EEXIST else { throw error }
        }
        // Already linked to this name before a kill.
        if let one = try folder.status(name), let other = try folder.status(aside), one.inode == other.inode,
            one.device == other.device
        {
            return
        }
    }
    throw DeviceError(
        .failed, "rename", "\(place.path(of: name)): cannot be renamed; move the other files out of its folder")
}
