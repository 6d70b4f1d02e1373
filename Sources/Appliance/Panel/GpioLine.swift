import Core

/// The location of a GPIO line.
struct GpioLine: Hashable, Sendable {
    let address: PanelAddress
    /// The path of the chip's device, such as `/dev/gpiochip0`.
    let chip: String
    /// The offset on the chip, from 0.
    let offset: Int

    /// Finds a line on any chip.
    ///
    /// - Parameter folder: the folder that contains the chips' devices.
    /// - Throws: `DeviceError` with `missing` or `denied`, or `unsupported` if a chip can be opened
    ///   and the address is not a GPIO line.
    init(finding address: PanelAddress, in folder: String = "/dev") throws(DeviceError) {
        var chips: [String] = []
        var failure: DeviceError?
        for path in GpioChip.paths(in: folder) {
            let chip: GpioChip
            do throws(DeviceError) { chip = try GpioChip(opening: path) } catch {
                // A chip that cannot be opened may have the line, so its error is thrown if no other chip has the line.
                if failure == nil || error.code == .denied { failure = error }
                continue
            }
            if let offset = try Self.offset(of: address, on: chip) {
                self.address = address
                self.chip = path
                self.offset = offset
                return
            }
            chips.append("\(chip.name) (\(chip.label), \(chip.lineCount) lines)")
        }
        if let failure { throw failure }
        let reason =
            chips.isEmpty
            ? "this machine has no GPIO chip" : "no such line on the chips: \(chips.joined(separator: ", "))"
        let remedy = chips.isEmpty ? "enable one, or set this to sim: or none" : "list the lines with gpioinfo"
        throw DeviceError(.missing, Self.operation, on: "\(address)", reason, remedy: remedy)
    }

    /// Whether Fieldscribe uses the line, in this process or in another one.
    var isOurs: Bool { (try? GpioChip(opening: chip).consumer(of: offset)) == Self.consumer }

    /// The consumer name of Fieldscribe's lines, which gpioinfo shows.
    static let consumer = "fieldscribe"

    private static let operation = "gpiod_line_find"

    /// Returns the offset of the line on a chip; nil if the chip does not have the line, but another one may.
    ///
    /// - Throws: `DeviceError` if no chip can have the line.
    private static func offset(of address: PanelAddress, on chip: borrowing GpioChip) throws(DeviceError) -> Int? {
        switch address {
        case .gpioName(let name): return chip.offset(of: name)
        case .gpioOffset(let name, let offset):
            guard chip.matches(name) else { return nil }
            if offset < chip.lineCount { return offset }
            throw DeviceError(
                .missing, operation, on: "\(address)", "\(chip.name) has only lines 0 to \(chip.lineCount - 1)",
                remedy: "list them with gpioinfo")
        case .sim, .none:
            throw DeviceError(
                .unsupported, operation, on: "\(address)", "not a GPIO line", remedy: "set it to gpio:NAME")
        }
    }
}
