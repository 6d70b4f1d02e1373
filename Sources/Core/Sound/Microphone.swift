/// Opens a microphone on the thread that reads it. Only the provider is passed between threads.
package protocol MicrophoneProvider: Sendable {
    /// The configured name: `alsa:plughw:CARD=Mic`.
    var name: String { get }

    /// Whether sound arrives in real time; false for a file.
    var isRealTime: Bool { get }

    /// Whether silence, distortion or a wrong rate are faults; a file may contain anything.
    var isMonitored: Bool { get }

    /// The number of channels to record, 1 or 2. A device may have fewer.
    var channels: Int { get }

    /// The length of the preroll in seconds.
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
    /// Waits for sound and copies it to `buffer`. Does not allocate.
    ///
    /// `buffer` must have space for at least `maximumBlock` samples per channel. Counts are per channel.
    /// - Throws: `DeviceError`, with `disconnected` if the device was removed.
    func read(into buffer: UnsafeMutableBufferPointer<Int16>) throws(DeviceError) -> CaptureBlock

    /// The number of channels, 1 or 2; at most the provider's.
    var channels: Int { get }

    /// Whether the channels being mixed currently cancel each other out, so that only the loudest is used.
    var channelsCancel: Bool { get }

    /// The maximum number of samples per channel in one `read`.
    var maximumBlock: Int { get }

    /// The number of samples that were captured before the microphone was opened.
    var prerollSamples: Int { get }
}

extension Microphone {
    package var channels: Int { 1 }
    package var channelsCancel: Bool { false }
    package var prerollSamples: Int { 0 }
}

/// The result of a read.
package enum CaptureBlock: Hashable, Sendable {
    /// The number of samples in the buffer.
    case samples(Int)
    /// The number of samples lost before the next one.
    case lost(samples: Int)
    case ended
}
