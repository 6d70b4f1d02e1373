import Core
import System

/// Combines all tracks of a container.
enum TrackMix {
    /// Decodes each track: two become separate channels, more are mixed into one.
    static func decode(_ source: ByteSource, _ container: ContainerDescription) throws(DeviceError) -> DecodedSound? {
        var parts: [SoundPart] = []
        var account = SoundAccount()
        for index in container.tracks.indices {
            guard let track = try DecodedSound.decode(source, container, index) else {
                account.complaints.append("no sound can be read of track \(container.name(index))")
                continue
            }
            parts.append(try SoundPart(track, keeping: 1))
        }
        guard !parts.isEmpty else { return nil }
        let channels = parts.count == 2 ? 2 : 1
        if parts.count > 2 { account.notes.append("\(parts.count) tracks are mixed: only two can be kept separate") }
        let target = try temporaryFile()
        let block = SamplePosition.rate
        let read = UnsafeMutableBufferPointer<Int16>.allocate(capacity: block)
        let written = UnsafeMutableBufferPointer<Int16>.allocate(capacity: block * channels)
        let sums = UnsafeMutableBufferPointer<Int32>.allocate(capacity: block)
        defer {
            read.deallocate()
            written.deallocate()
            sums.deallocate()
        }
        while true {
            written.initialize(repeating: 0)
            sums.initialize(repeating: 0)
            var longest = 0
            for (channel, part) in parts.enumerated() {
                let count = try part.read(into: read)
                longest = max(longest, count)
                for index in 0..<count {
                    if channels == 2 {
                        written[2 * index + channel] = read[index]
                    } else {
                        sums[index] += Int32(read[index])
                        written[index] = Int16(clamping: sums[index] / Int32(parts.count))
                    }
                }
            }
            if longest == 0 { break }
            try target.write(
                UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(written)[..<(2 * longest * channels)]))
        }
        for part in parts { account.add(part.account, at: .zero) }
        return DecodedSound(
            source: try ByteSource(spool: target, named: source.name), channels: channels, isFloat: false, silences: [],
            account: account)
    }
}
