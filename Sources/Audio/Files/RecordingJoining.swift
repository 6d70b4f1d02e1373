import Core
import Glibc
import System

/// What joining a recording's parts came to.
package enum Joining: Sendable {
    /// It has none.
    case whole
    case joined
    /// It was asked to end before; the next one goes on where it was.
    case unfinished
}

/// Joins the parts of the recording in a folder into one durable `audio.wav`; see `RecordingPart`.
///
/// The files it was joined from are set aside as `audio.aside-000123456.wav`, none is deleted. Safe against a kill at
/// any moment, and to be called again: it goes on where it was, and where there is nothing left to join it does nothing. Not
/// while the recording is being written.
/// - Returns: whether there were parts.
/// - Throws: `DeviceError`, `full` where there is no room for the whole; the parts are then as they were, and read as
///   one.
@discardableResult
func joinParts(inFolder folder: String) throws(DeviceError) -> Bool {
    try joinParts(inFolder: folder, while: { true }) == .joined
}

/// The same, as long as `goesOn`, which is asked some times a second.
package func joinParts(inFolder folder: String, while goesOn: () -> Bool) throws(DeviceError) -> Joining {
    try joinParts(of: "\(folder)/audio.wav", while: goesOn)
}

func joinParts(of audio: String, while goesOn: () -> Bool) throws(DeviceError) -> Joining {
    let place = try RecordingPlace(audio)
    let folder = place.folder
    let parts = try RecordingPart.all(in: place)
    guard !parts.isEmpty else { return .whole }
    let original = try WaveLayout(of: folder.openFile(place.name, O_RDONLY))
    if !original.isJoined {
        let joined = "\(place.name).joining"
        do throws(DeviceError) {
            let sources = try sources(of: [place.name] + parts.map(\.name), in: folder)
            let file = try JoiningFile(joined, in: folder, sources: sources, channels: original.channels)
            guard try copy(RecordingReader(path: audio), to: file, while: goesOn) else { return .unfinished }
        } catch {
            try? folder.remove(joined)
            throw error
        }
        // A second name first: at no moment is there no `audio.wav`.
        try setAside(
            place.name, in: folder, as: { RecordingPart.aside(place.name, start: .zero, turn: $0) },
            by: { name, aside throws(DeviceError) in try folder.link(name, as: aside) })
        try folder.rename(joined, replacing: place.name)
        try folder.sync()
    }
    for part in parts {
        try setAside(
            part.name, in: folder, as: { RecordingPart.aside(place.name, start: part.start, turn: $0) },
            by: { name, aside throws(DeviceError) in try folder.rename(name, toFree: aside) })
    }
    try folder.sync()
    return .joined
}

/// Tells these files from others: their names and lengths, which no longer change.
private func sources(of names: [String], in folder: Folder) throws(DeviceError) -> UInt32 {
    var sum = AudioChecksum()
    for name in names {
        let text = Array("\(name):\(try folder.status(name)?.bytes ?? -1)\n".utf8)
        text.withUnsafeBytes { sum.add(bytes: $0) }
    }
    return sum.value
}

/// Copies what the file lacks; returns whether that is all of it now.
private func copy(
    _ reader: RecordingReader, to file: JoiningFile, while goesOn: () -> Bool
) throws(DeviceError) -> Bool {
    let end = try reader.length
    let buffer = UnsafeMutableBufferPointer<Int16>.allocate(capacity: 256 * 1024)
    defer { buffer.deallocate() }
    while file.end < end {
        guard goesOn() else {
            try file.keep()
            return false
        }
        let count = try reader.readFrames(at: file.end, into: buffer)
        guard count > 0 else {
            throw DeviceError(.damaged, "read", "\(file.name): a part of the recording cannot be read")
        }
        let samples = UnsafeBufferPointer(rebasing: buffer[..<(count * reader.channels)])
        // What was a hole stays one.
        if isSilence(samples) { try file.appendSilence(count) } else { try file.append(samples) }
    }
    try file.close(reason: reader.stopReason ?? .cutShort)
    return true
}

private func isSilence(_ samples: UnsafeBufferPointer<Int16>) -> Bool {
    guard let base = samples.baseAddress, samples.first == 0 else { return false }
    // All alike, and the first is zero.
    return memcmp(base, base + 1, (samples.count - 1) * MemoryLayout<Int16>.size) == 0
}

/// Gives a file a name that no other has.
private func setAside(
    _ name: String, in folder: Folder, as aside: (Int) -> String,
    by call: (String, String) throws(DeviceError) -> Void
) throws(DeviceError) {
    for turn in 1...1_000 {
        let aside = aside(turn)
        do throws(DeviceError) { return try call(name, aside) } catch {
            guard error.status == EEXIST else { throw error }
        }
        // Set aside before a kill: it has this name already.
        if let one = try folder.status(name), let other = try folder.status(aside), one.inode == other.inode,
            one.device == other.device
        {
            return
        }
    }
    throw DeviceError(
        .failed, "rename", "\(folder.path)/\(name): cannot be set aside; move the other files of its folder away")
}
