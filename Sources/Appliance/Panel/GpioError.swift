import Core
import Glibc

extension DeviceError {
    /// Returns the error of a line request. It names the consumer of a busy line.
    static func request(of line: GpioLine, status: Int32) -> DeviceError {
        guard status == EBUSY else { return gpio("gpiod_line_request", status: status, on: "\(line.address)") }
        // The name is empty if the consumer is a kernel driver, or if the line has been released meanwhile.
        let name = (try? GpioChip(opening: line.chip).user(of: line.offset)) ?? ""
        let user = name.isEmpty ? "another program" : name
        return DeviceError(
            .busy, "gpiod_line_request", status: status, on: "\(line.address)", "used by \(user)",
            remedy: "stop that program, or choose another line")
    }

    /// Returns the error of a libgpiod call.
    static func gpio(_ operation: String, status: Int32 = errno, on subject: String) -> DeviceError {
        let (code, reason, remedy): (Code, String, String) =
            switch status {
            case ENOENT: (.missing, "there is no such chip", "list them with gpiodetect")
            case EACCES, EPERM: (.denied, "permission denied", "join the group gpio")
            case EBUSY: (.busy, "used by another program", "stop that program, or choose another line")
            case ENOTTY: (.unsupported, "not a GPIO chip", "list them with gpiodetect")
            // libgpiod 2 reports ENODEV on opening a file that is not a chip.
            case ENODEV where operation == "gpiod_chip_open":
                (.unsupported, "not a GPIO chip", "list them with gpiodetect")
            case ENODEV, ENXIO, EIO:
                (.disconnected, "the chip was disconnected", "check that it is plugged in, then start again")
            case EINVAL, ENOTSUP: (.unsupported, "the line cannot be used this way", "choose another line")
            default: (.failed, "\(operation) failed with error \(status)", "check it with gpioinfo")
            }
        return DeviceError(code, operation, status: status, on: subject, reason, remedy: remedy)
    }
}
