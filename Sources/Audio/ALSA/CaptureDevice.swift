internal import CAlsa
import Core

/// An ALSA device that can record.
package struct CaptureDevice: Hashable, Sendable {
    /// The PCM's name, such as `plughw:CARD=Mic,DEV=0`. Does not depend on the order in which cards were plugged in.
    package let name: String

    /// The card and device names, such as `USB Audio Microphone, USB Audio`.
    package let description: String
}

/// Returns this machine's capture devices, ordered by card number.
///
/// - Throws: `DeviceError` with `denied` if there are sound cards but this user may not open any of them.
package func captureDevices() throws(DeviceError) -> [CaptureDevice] {
    fieldscribe_silence_alsa()
    var devices: [CaptureDevice] = []
    var card: Int32 = -1
    while snd_card_next(&card) == 0, card >= 0 {
        devices += captureDevices(ofCard: card)
    }
    if devices.isEmpty, SoundUsers.isDenied {
        throw DeviceError(
            .denied, "snd_ctl_open", "the sound cards: permission denied",
            remedy: "join the group audio (adduser USER audio) and log in again")
    }
    return devices
}

private func captureDevices(ofCard card: Int32) -> [CaptureDevice] {
    var control: OpaquePointer?
    var cardInfo: OpaquePointer?
    var pcmInfo: OpaquePointer?
    // Skip a card that was just unplugged or cannot be opened.
    guard snd_ctl_open(&control, "hw:\(card)", Int32(SND_PCM_NONBLOCK)) == 0 else { return [] }
    defer {
        snd_ctl_close(control)
        snd_ctl_card_info_free(cardInfo)
        snd_pcm_info_free(pcmInfo)
    }
    guard snd_ctl_card_info_malloc(&cardInfo) == 0, snd_pcm_info_malloc(&pcmInfo) == 0,
        snd_ctl_card_info(control, cardInfo) == 0
    else { return [] }
    let id = string(snd_ctl_card_info_get_id(cardInfo))
    let cardName = string(snd_ctl_card_info_get_name(cardInfo))
    var devices: [CaptureDevice] = []
    var device: Int32 = -1
    while snd_ctl_pcm_next_device(control, &device) == 0, device >= 0 {
        snd_pcm_info_set_device(pcmInfo, UInt32(device))
        snd_pcm_info_set_subdevice(pcmInfo, 0)
        snd_pcm_info_set_stream(pcmInfo, SND_PCM_STREAM_CAPTURE)
        // Fails for a device that only plays.
        guard snd_ctl_pcm_info(control, pcmInfo) == 0 else { continue }
        devices.append(
            CaptureDevice(
                name: "plughw:CARD=\(id),DEV=\(device)",
                description: "\(cardName), \(string(snd_pcm_info_get_name(pcmInfo)))"))
    }
    return devices
}

private func string(_ text: UnsafePointer<CChar>?) -> String { text.map { String(cString: $0) } ?? "" }
