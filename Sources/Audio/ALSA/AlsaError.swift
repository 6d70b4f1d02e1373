internal import CAlsa
import Core
import Glibc

extension DeviceError {
    /// The error of a libasound call on an open device.
    static func alsa(_ operation: String, _ status: Int32, on device: String) -> DeviceError {
        switch -status {
        case ENODEV, ENXIO, EBADFD:
            DeviceError(
                .disconnected, operation, status: status, on: "microphone \(device)", "it is gone (\(words(status)))",
                remedy: "plug it in again")
        default:
            DeviceError(
                .failed, operation, status: status, on: "microphone \(device)", "\(operation): \(words(status))",
                remedy: "unplug it and plug it in again")
        }
    }

    /// The error of a device that did not open.
    static func alsaOpen(_ status: Int32, on device: String) -> DeviceError {
        let operation = "snd_pcm_open"
        switch -status {
        case EBUSY, EAGAIN:
            let users = SoundUsers.capturing().joined(separator: ", ")
            let who = users.isEmpty ? "another program" : users
            return DeviceError(
                .busy, operation, status: status, on: "microphone \(device)", "\(who) uses it",
                remedy: "close that program")
        case EACCES, EPERM:
            return denied(operation, status, device)
        case ENOENT, ENODEV, ENXIO:
            // Cards without read permission cannot be found by name.
            if SoundUsers.isDenied { return denied(operation, status, device) }
            let names = ((try? captureDevices()) ?? []).map { "alsa:\($0.name)" }.joined(separator: " ")
            let remedy =
                names.isEmpty ? "this machine has no microphone that ALSA knows; plug one in" : "available: \(names)"
            return DeviceError(
                .missing, operation, status: status, on: "microphone \(device)", "not found", remedy: remedy)
        default:
            return DeviceError(
                .failed, operation, status: status, on: "microphone \(device)", "cannot be opened (\(words(status)))",
                remedy: "check its name and the ALSA configuration")
        }
    }

    private static func denied(_ operation: String, _ status: Int32, _ device: String) -> DeviceError {
        DeviceError(
            .denied, operation, status: status, on: "microphone \(device)", "permission denied",
            remedy: "join the group audio (adduser USER audio) and log in again")
    }

    private static func words(_ status: Int32) -> String {
        snd_strerror(status).map { String(cString: $0) } ?? "error \(status)"
    }
}
