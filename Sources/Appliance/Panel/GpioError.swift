import Core
import Glibc

extension DeviceError {
    /// Returns the error of a line request. If the line is busy, the error names its consumer.
    static func request(of line: GpioLine, status: Int32) -> DeviceError {
        guard status == EBUSY else { return gpio("gpiod_line_request", status: status, on: "\(line.address)") }
        // The consumer may have no name, or may have released the line meanwhile.
        let name = (try? GpioChip(opening: line.chip).consumer(of: line.offset)) ?? ""
        let consumer = name.isEmpty ? "another program" : name
        return DeviceError(
            .busy, "gpiod_line_request", status: status, on: "\(line.address)", "used by \(consumer)",
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
            // libgpiod 2 reports ENODEV for a file that is not a chip.
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
