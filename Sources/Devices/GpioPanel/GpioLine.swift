import Panel
import Core

/// Where a line was found: a chip's device and a place on it.
package struct GpioLine: Hashable, Sendable {
    /// How it was named.
    package let address: PanelAddress

    /// The chip's device: `/dev/gpiochip0`.
    package let chip: String
    /// Its place on that chip, from 0.
    package let offset: Int

    /// Looks for a line over all chips.
    ///
    /// - Parameter folder: where the chips' devices are.
    /// - Throws: `DeviceError` with `missing`, `denied` or, where the address is not one of GPIO, `unsupported`.
    package init(finding address: PanelAddress, in folder: String = "/dev") throws(DeviceError) {
        let paths = GpioChip.paths(in: folder)
        var chips: [String] = []
        var failure: DeviceError?
        for path in paths {
            do throws(DeviceError) {
                let chip = try GpioChip(opening: path)
                if let offset = try Self.offset(of: address, on: chip) {
                    self.address = address
                    self.chip = path
                    self.offset = offset
                    return
                }
                chips.append("\(chip.name) (\(chip.label), \(chip.lineCount) lines)")
            } catch {
                // A chip that may not be opened may have the line; that is told where no other has it.
                if failure == nil || error.code == .denied { failure = error }
                if error.operation == Self.operation { throw error }
            }
        }
        if let failure { throw failure }
        let known =
            chips.isEmpty
            ? "this machine has no GPIO chip" : "no such line; available: \(chips.joined(separator: ", "))"
        let remedy = chips.isEmpty ? "enable it, or set this to sim: or none" : "list the lines with gpioinfo"
        throw DeviceError(.missing, Self.operation, "\(address): \(known); \(remedy)")
    }

    /// Whether the appliance has it, in this process or in another.
    package var isOurs: Bool { (try? GpioChip(opening: chip).user(of: offset)) == Self.consumer }

    /// What our lines are labelled with, for whoever lists them.
    static let consumer = "fieldscribe"

    private static let operation = "gpiod_line_find"

    private static func offset(of address: PanelAddress, on chip: borrowing GpioChip) throws(DeviceError) -> Int? {
        switch address {
        case .gpioName(let name): return chip.offset(of: name)
        case .gpioOffset(let name, let offset):
            guard chip.answers(to: name) else { return nil }
            if offset < chip.lineCount { return offset }
            throw DeviceError(
                .missing, operation,
                "\(address): \(chip.name) has lines 0 to \(chip.lineCount - 1) only; list them with gpioinfo")
        case .sim, .none:
            throw DeviceError(.unsupported, operation, "\(address): not a GPIO line; name one as gpio:NAME")
        }
    }
}
