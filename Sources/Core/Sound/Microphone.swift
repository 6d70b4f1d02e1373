/// Opens a microphone on the thread that reads it. Only the provider is passed around.
package protocol MicrophoneProvider: Sendable {
    /// The name in the configuration: `alsa:plughw:CARD=Mic`.
    var name: String { get }

    /// Whether sound arrives in real time; a file waits to be read.
    var isRealTime: Bool { get }

    /// Whether silence, distortion or a wrong rate are faults; a file may contain anything.
    var isMonitored: Bool { get }

    /// The number of channels to record, 1 or 2; a device with fewer delivers fewer.
    var channels: Int { get }

    /// The length of the preroll in seconds.
    var prerollSeconds: Double { get }

    /// Opens the device. The microphone is used and freed on this thread.
    ///
    /// - Throws: `DeviceError` with `missing`, `busy`, `denied` or `unsupported`.
    func open() throws(DeviceError) -> any Microphone
}

extension MicrophoneProvider {
    package var isMonitored: Bool { isRealTime }
    package var prerollSeconds: Double { 0 }
    package var channels: Int { 1 }
}

/// An open microphone: one or two interleaved channels, 16-bit, 16 kHz.
package protocol Microphone: AnyObject {
    /// Waits for sound and copies it to `buffer`. Does not allocate.
    ///
    /// `buffer` holds at least `maximumBlock` samples of each channel; counts are per channel.
    /// - Throws: `DeviceError`, with `disconnected` when the device is gone.
    func read(into buffer: UnsafeMutableBufferPointer<Int16>) throws(DeviceError) -> CaptureBlock

    /// The number of channels, 1 or 2; not more than its provider's.
    var channels: Int { get }

    /// Whether the channels that it mixes currently cancel each other, so that it uses only the loudest.
    var channelsCancel: Bool { get }

    /// The maximum number of samples per channel in one `read`.
    var maximumBlock: Int { get }

    /// The number of samples captured before it was opened.
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
