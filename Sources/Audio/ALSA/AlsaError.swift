internal import CAlsa
import Core
import Glibc

extension DeviceError {
    /// Returns the error for a failed libasound call on an open device.
    static func alsa(_ operation: String, _ status: Int32, on device: String) -> DeviceError {
        switch -status {
        case ENODEV, ENXIO, EBADFD:
            DeviceError(
                .disconnected, operation, status: status, on: "microphone \(device)",
                "was disconnected (\(statusText(status)))",
                remedy: "plug it in again")
        default:
            DeviceError(
                .failed, operation, status: status, on: "microphone \(device)", "\(operation): \(statusText(status))",
                remedy: "unplug it and plug it in again")
        }
    }

    /// Returns the error for a device that could not be opened.
    static func alsaOpen(_ status: Int32, on device: String) -> DeviceError {
        let operation = "snd_pcm_open"
        switch -status {
        case EBUSY, EAGAIN:
            let users = SoundUsers.capturing().joined(separator: ", ")
            let user = users.isEmpty ? "another program" : users
            return DeviceError(
                .busy, operation, status: status, on: "microphone \(device)", "is in use by \(user)",
                remedy: "close that program")
        case EACCES, EPERM:
            return denied(operation, status, device)
        case ENOENT, ENODEV, ENXIO:
            // Without read permission, cards cannot be found by name.
            if SoundUsers.isDenied { return denied(operation, status, device) }
            let names = ((try? captureDevices()) ?? []).map { "alsa:\($0.name)" }.joined(separator: " ")
            let remedy =
                names.isEmpty ? "ALSA finds no microphone on this machine; plug one in" : "available: \(names)"
            return DeviceError(
                .missing, operation, status: status, on: "microphone \(device)", "not found", remedy: remedy)
        default:
            return DeviceError(
                .failed, operation, status: status, on: "microphone \(device)",
                "cannot be opened (\(statusText(status)))",
                remedy: "check its name and the ALSA configuration")
        }
    }

    private static func denied(_ operation: String, _ status: Int32, _ device: String) -> DeviceError {
        DeviceError(
            .denied, operation, status: status, on: "microphone \(device)", "permission denied",
            remedy: "join the group audio (adduser USER audio) and log in again")
    }

    private static func statusText(_ status: Int32) -> String {
        snd_strerror(status).map { String(cString: $0) } ?? "error \(status)"
    }
}
