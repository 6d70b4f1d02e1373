internal import CAlsa
import Core
import Glibc
import System

/// An open ALSA capture device, which is closed when its last reference is released.
final class PCMHandle {
    /// How long a microphone may deliver no audio before it counts as disconnected.
    private static let timeoutMilliseconds: Int32 = 2_000

    let device: String
    private let pcm: OpaquePointer

    init(opening device: String) throws(DeviceError) {
        fieldscribe_silence_alsa()
        var pcm: OpaquePointer?
        // Without NONBLOCK, this would wait for a device that is in use.
        let status = snd_pcm_open(&pcm, device, SND_PCM_STREAM_CAPTURE, Int32(SND_PCM_NONBLOCK))
        guard status == 0, let pcm else { throw .alsaOpen(status, on: device) }
        self.device = device
        self.pcm = pcm
    }

    deinit { snd_pcm_close(pcm) }

    func configure(rate: Int, channels: Int) throws(DeviceError) -> NegotiatedHardware {
        try HardwareNegotiation(pcm: pcm, device: device).negotiate(rate: rate, channels: channels, hasCard: hasCard)
    }

    private var hasCard: Bool {
        var info: OpaquePointer?
        guard snd_pcm_info_malloc(&info) == 0 else { return false }
        defer { snd_pcm_info_free(info) }
        return snd_pcm_info(pcm, info) == 0 && snd_pcm_info_get_card(info) >= 0
    }

    /// Starts capturing, either initially or after an overrun or suspend.
    func start() throws(DeviceError) {
        var status = snd_pcm_prepare(pcm)
        guard status >= 0 else { throw .alsa("snd_pcm_prepare", status, on: device) }
        status = snd_pcm_start(pcm)
        guard status >= 0 else { throw .alsa("snd_pcm_start", status, on: device) }
    }

    /// Waits for frames and reads them. Returns nil if the device stopped because of an overrun or suspend.
    ///
    /// - Throws: `DeviceError` with `disconnected` if the device was removed or delivers no frames within the timeout.
    func read(into buffer: UnsafeMutableRawBufferPointer, frames: Int) throws(DeviceError) -> Int? {
        let deadline = MonotonicClock.nanoseconds + Int64(Self.timeoutMilliseconds) * 1_000_000
        while true {
            var status = Int(snd_pcm_wait(pcm, Self.timeoutMilliseconds))
            if status > 0 {
                status = snd_pcm_readi(pcm, buffer.baseAddress, snd_pcm_uframes_t(frames))
                if status > 0 { return status }
                // Some plugins report readiness but have no frames; polling again immediately would busy-wait.
                if status == -Int(EAGAIN) || status == 0 { usleep(2_000) }
            }
            switch Int32(-status) {
            case EPIPE: return nil
            case ESTRPIPE:
                resume()
                return nil
            case 0, EAGAIN, EINTR:
                guard MonotonicClock.nanoseconds < deadline else {
                    throw DeviceError(
                        .disconnected, "snd_pcm_wait", on: "microphone \(device)",
                        "delivered no sound for \(Self.timeoutMilliseconds / 1_000) s", remedy: "plug it in again")
                }
            default: throw .alsa("snd_pcm_readi", Int32(status), on: device)
            }
        }
    }

    /// Resumes after a system suspend. If the device cannot resume, `start` prepares it again.
    private func resume() {
        for _ in 0..<20 {
            guard snd_pcm_resume(pcm) == -EAGAIN else { return }
            usleep(50_000)
        }
    }
}
