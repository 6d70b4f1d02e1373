import Core
import System

/// A microphone that hears an audio file: in real time and silence after it, or as fast as it is taken and then the end.
package struct FileMicrophone: MicrophoneProvider {
    package let name: String
    private let path: String
    private let isFast: Bool
    package let channels: Int

    /// Plays a file.
    ///
    /// - Parameters:
    ///   - isFast: as fast as it is taken; otherwise in real time.
    ///   - channels: 2 keeps both of a file that has two; else they are mixed.
    init(path: String, isFast: Bool = false, channels: Int = 1) {
        name = (isFast ? "file+fast:" : "file:") + path
        self.path = path
        self.isFast = isFast
        self.channels = channels == 2 ? 2 : 1
    }

    /// Reads `file:PATH` and `file+fast:PATH`; nil for anything else.
    package init?(uri: String, channels: Int = 1) {
        guard let colon = uri.firstIndex(of: ":") else { return nil }
        let path = String(uri[uri.index(after: colon)...])
        switch uri[..<colon] {
        case "file": self.init(path: path, channels: channels)
        case "file+fast": self.init(path: path, isFast: true, channels: channels)
        default: return nil
        }
    }

    package var isRealTime: Bool { !isFast }
    package var isMonitored: Bool { false }

    package func open() throws(DeviceError) -> any Microphone {
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
        // The room is silent when the tape has ended.
        for index in count..<block.count { block[index] = 0 }
        metronome.wait(forNext: block.count / channels)
        return .samples(block.count / channels)
    }
}
