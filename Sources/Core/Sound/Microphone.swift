/// The port for sound coming in. The provider is what is passed around; it opens the microphone on the thread that
/// reads it.
package protocol MicrophoneProvider: Sendable {
    /// As the configuration names it: `alsa:plughw:CARD=Mic`.
    var name: String { get }

    /// Whether sound comes at the pace of time, ready or not; one that is not real time waits to be read.
    var isRealTime: Bool { get }

    /// Whether silence, distortion or a wrong rate are faults of it; a file may hold anything.
    var isMonitored: Bool { get }

    /// How many channels are kept of what it gives, 1 or 2; a device that has fewer gives fewer.
    var channels: Int { get }

    /// How much that was heard already a recording begun now starts with, in seconds.
    var prerollSeconds: Double { get }

    /// Opens the device. The microphone is used and freed on the thread that opened it.
    ///
    /// - Throws: `DeviceError` with `missing`, `busy`, `denied` or `unsupported`.
    func open() throws(DeviceError) -> any Microphone
}

extension MicrophoneProvider {
    var isRealTime: Bool { true }
    package var isMonitored: Bool { isRealTime }
    package var prerollSeconds: Double { 0 }
    package var channels: Int { 1 }
}

/// An open microphone: one or two channels, 16-bit, 16 kHz. A sample of two channels is a frame: the first one's, then the second's.
package protocol Microphone: AnyObject {
    /// Waits for sound and puts it into `buffer`.
    ///
    /// Allocates nothing. `buffer` holds at least `maximumBlock` samples of each channel, interleaved; what is counted are
    /// those of one channel.
    /// - Throws: `DeviceError`, with `disconnected` when the device is gone.
    func read(into buffer: UnsafeMutableBufferPointer<Int16>) throws(DeviceError) -> CaptureBlock

    /// How many channels it gives, 1 or 2; no more than its provider promised.
    var channels: Int { get }

    /// Whether the channels that it mixes cancel each other now, so that it gives the loudest alone.
    var channelsCancel: Bool { get }

    /// The most samples of a channel that one `read` gives.
    var maximumBlock: Int { get }

    /// How many of the samples that it gives were heard before it was opened.
    var prerollSamples: Int { get }
}

extension Microphone {
    package var channels: Int { 1 }
    package var channelsCancel: Bool { false }
    package var prerollSamples: Int { 0 }
}

/// What one read of a microphone gave.
package enum CaptureBlock: Hashable, Sendable {
    /// So many samples are in the buffer.
    case samples(Int)
    /// So many samples were lost before the next that will be read.
    case lost(samples: Int)
    /// A microphone that is a file has ended.
    case ended
}
