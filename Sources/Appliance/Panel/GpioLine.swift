import Core

/// A GPIO line: the chip's device and the offset on it.
struct GpioLine: Hashable, Sendable {
    let address: PanelAddress

    /// The chip's device: `/dev/gpiochip0`.
    let chip: String
    /// From 0.
    let offset: Int

    /// Finds a line on any chip.
    ///
    /// - Parameter folder: the folder of the chips' devices.
    /// - Throws: `DeviceError` with `missing` or `denied`, or `unsupported` if the address is not a GPIO line.
    init(finding address: PanelAddress, in folder: String = "/dev") throws(DeviceError) {
        let paths = GpioChip.paths(in: folder)
        var chips: [String] = []
        var failure: DeviceError?
        for path in paths {
            var nowhere: DeviceError?
            do throws(DeviceError) {
                let chip = try GpioChip(opening: path)
                switch Self.place(of: address, on: chip) {
                case .here(let offset):
                    self.address = address
                    self.chip = path
                    self.offset = offset
                    return
                case .elsewhere: chips.append("\(chip.name) (\(chip.label), \(chip.lineCount) lines)")
                case .nowhere(let error): nowhere = error
                }
            } catch {
                // A chip that cannot be opened may have the line; reported if no other chip has it.
                if failure == nil || error.code == .denied { failure = error }
            }
            if let nowhere { throw nowhere }
        }
        if let failure { throw failure }
        let known =
            chips.isEmpty
            ? "this machine has no GPIO chip" : "no such line; available: \(chips.joined(separator: ", "))"
        let remedy = chips.isEmpty ? "enable it, or set this to sim: or none" : "list the lines with gpioinfo"
        throw DeviceError(.missing, Self.operation, on: "\(address)", known, remedy: remedy)
    }

    /// Whether the appliance uses the line, in this or another process.
    var isOurs: Bool { (try? GpioChip(opening: chip).user(of: offset)) == Self.consumer }

    /// The consumer label of our lines, which gpioinfo shows.
    static let consumer = "fieldscribe"

    private static let operation = "gpiod_line_find"

    /// Whether a chip has the line of an address.
    private enum Place {
        case here(Int)
        /// Another chip may have it.
        case elsewhere
        /// No chip has it, for this reason.
        case nowhere(DeviceError)
    }

    private static func place(of address: PanelAddress, on chip: borrowing GpioChip) -> Place {
        switch address {
        case .gpioName(let name): return chip.offset(of: name).map { .here($0) } ?? .elsewhere
        case .gpioOffset(let name, let offset):
            guard chip.answers(to: name) else { return .elsewhere }
            if offset < chip.lineCount { return .here(offset) }
            return .nowhere(
                DeviceError(
                    .missing, operation, on: "\(address)", "\(chip.name) has lines 0 to \(chip.lineCount - 1) only",
                    remedy: "list them with gpioinfo"))
        case .sim, .none:
            return .nowhere(
                DeviceError(
                    .unsupported, operation, on: "\(address)", "not a GPIO line", remedy: "name one as gpio:NAME"))
        }
    }
}
