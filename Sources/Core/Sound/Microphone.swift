/// Opens a microphone on the thread that reads it. Only the provider is passed between threads.
package protocol MicrophoneProvider: Sendable {
    /// The configured name, such as `alsa:plughw:CARD=Mic`.
    var name: String { get }

    /// Whether audio arrives in real time; false for a file.
    var isRealTime: Bool { get }

    /// Whether silence, distortion and a wrong sample rate are faults; false for a file, which may contain anything.
    var isMonitored: Bool { get }

    /// The number of channels to record, 1 or 2. A device may have fewer.
    var channels: Int { get }

    /// The length in seconds of the audio that is already captured and will begin the next recording.
    var prerollSeconds: Double { get }

    /// Opens the device. The microphone must be used and released on the calling thread.
    ///
    /// - Throws: `DeviceError` with `missing`, `busy`, `denied` or `unsupported`.
    func open() throws(DeviceError) -> any Microphone
}

extension MicrophoneProvider {
    package var isMonitored: Bool { isRealTime }
    package var prerollSeconds: Double { 0 }
    package var channels: Int { 1 }
}

/// An open microphone with one or two interleaved channels, 16-bit, 16 kHz.
package protocol Microphone: AnyObject {
    /// Waits for audio and copies it to `buffer`. Does not allocate.
    ///
    /// - Parameter buffer: Must have space for at least `maximumBlock` samples per channel.
    /// - Throws: `DeviceError`, with `disconnected` if the device was removed.
    func read(into buffer: UnsafeMutableBufferPointer<Int16>) throws(DeviceError) -> CaptureBlock

    /// The number of channels, 1 or 2; at most the provider's.
    var channels: Int { get }

    /// Whether the two channels currently cancel each other out, so that only the louder one is used.
    var channelsCancel: Bool { get }

    /// The maximum number of samples per channel in one `read`.
    var maximumBlock: Int { get }

    /// The number of samples per channel that were captured before the microphone was opened. They are read first.
    var prerollSamples: Int { get }
}

extension Microphone {
    package var channels: Int { 1 }
    package var channelsCancel: Bool { false }
    package var prerollSamples: Int { 0 }
}

/// The result of a read. Numbers of samples are per channel.
package enum CaptureBlock: Hashable, Sendable {
    /// The number of samples in the buffer.
    case samples(Int)
    /// The number of samples lost before the next read.
    case lost(samples: Int)
    case ended
}
