import Core
import System

/// Combines all of a container's tracks.
enum TrackMix {
    /// Decodes all tracks. Two become separate channels; more are mixed into one.
    static func decode(_ source: ByteSource, _ container: ContainerDescription) throws(DeviceError) -> DecodedSound? {
        var parts: [SoundPart] = []
        var report = SoundReport()
        for index in container.tracks.indices {
            guard let track = try DecodedSound.decode(source, container, index) else {
                report.problems.append("no sound can be read from track \(container.trackName(index))")
                continue
            }
            parts.append(try SoundPart(track, keeping: 1))
        }
        guard !parts.isEmpty else { return nil }
        let channels = parts.count == 2 ? 2 : 1
        if parts.count > 2 {
            report.notes.append("\(parts.count) tracks are mixed, since only two can be kept separate")
        }
        let target = try temporaryFile()
        let block = SamplePosition.rate
        let input = UnsafeMutableBufferPointer<Int16>.allocate(capacity: block)
        let output = UnsafeMutableBufferPointer<Int16>.allocate(capacity: block * channels)
        let sums = UnsafeMutableBufferPointer<Int32>.allocate(capacity: block)
        defer {
            input.deallocate()
            output.deallocate()
            sums.deallocate()
        }
        while true {
            output.initialize(repeating: 0)
            sums.initialize(repeating: 0)
            var frameCount = 0
            for (channel, part) in parts.enumerated() {
                let count = try part.read(into: input)
                frameCount = max(frameCount, count)
                for index in 0..<count {
                    if channels == 2 {
                        output[2 * index + channel] = input[index]
                    } else {
                        sums[index] += Int32(input[index])
                        output[index] = Int16(clamping: sums[index] / Int32(parts.count))
                    }
                }
            }
            if frameCount == 0 { break }
            try target.write(
                UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(output)[..<(2 * frameCount * channels)]))
        }
        for part in parts { report.add(part.report, at: .zero) }
        return DecodedSound(
            source: try ByteSource(spool: target, named: source.name), channels: channels, isFloat: false, silences: [],
            report: report)
    }
}
