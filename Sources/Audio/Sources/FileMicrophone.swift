import Core
import System

/// A microphone that plays an audio file, either in real time followed by silence, or as fast as it is read until the
/// file ends.
struct FileMicrophone: MicrophoneProvider {
    let name: String
    private let path: String
    private let isFast: Bool
    let channels: Int

    /// Parses `file:PATH` or `file+fast:PATH`.
    ///
    /// - Parameter channels: 2 to keep both channels of a stereo file; otherwise they are mixed.
    init?(uri: String, channels: Int = 1) {
        guard let colon = uri.firstIndex(of: ":") else { return nil }
        let scheme = uri[..<colon]
        guard scheme == "file" || scheme == "file+fast" else { return nil }
        name = uri
        path = String(uri[uri.index(after: colon)...])
        isFast = scheme == "file+fast"
        self.channels = channels == 2 ? 2 : 1
    }

    var isRealTime: Bool { !isFast }
    var isMonitored: Bool { false }

    func open() throws(DeviceError) -> any Microphone {
        FileCapture(try AudioFileReader(path: path, keeping: channels), isFast: isFast)
    }
}

private final class FileCapture: Microphone {
    let maximumBlock = SamplePosition.rate / 10
    private let reader: AudioFileReader
    let channels: Int
    private let isFast: Bool
    private var metronome = Metronome(start: MonotonicClock.nanoseconds)

    init(_ reader: AudioFileReader, isFast: Bool) {
        self.reader = reader
        channels = reader.outputs
        self.isFast = isFast
    }

    func read(into buffer: UnsafeMutableBufferPointer<Int16>) throws(DeviceError) -> CaptureBlock {
        let block = UnsafeMutableBufferPointer(rebasing: buffer[..<min(maximumBlock * channels, buffer.count)])
        let count = try reader.read(into: block)
        if isFast { return count == 0 ? .ended : .samples(count / channels) }
        // Return silence after the end of the file.
        for index in count..<block.count { block[index] = 0 }
        metronome.wait(forNext: block.count / channels)
        return .samples(block.count / channels)
    }
}
