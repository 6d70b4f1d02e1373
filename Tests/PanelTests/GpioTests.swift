import Glibc
import Testing
import TestKit

@testable import Appliance
@testable import Core

/// Uses the real libgpiod, but no chip. The tests that need a chip run in a virtual machine.
@Suite("GPIO") struct GpioTests {
    @Test(
        "an address has one of four forms",
        arguments: [
            ("gpio:GPIO17", PanelAddress.gpioName("GPIO17")),
            ("gpio:17", .gpioName("17")),
            ("gpio:button line", .gpioName("button line")),
            ("gpio:gpiochip0/17", .gpioOffset(chip: "gpiochip0", offset: 17)),
            ("gpio:4/0", .gpioOffset(chip: "4", offset: 0)),
            ("gpio:/dev/gpiochip4/65535", .gpioOffset(chip: "/dev/gpiochip4", offset: 65_535)),
            ("sim:", .sim),
            ("none", .none),
        ])
    func addresses(_ text: String, _ address: PanelAddress) {
        #expect(PanelAddress(text) == address)
        #expect(address.description == text)
    }

    @Test(
        "any other text is not an address",
        arguments: [
            "", "gpio", "gpio:", "gpio:/", "gpio:/3", "gpio:gpiochip0/", "gpio:gpiochip0/+3", "gpio:gpiochip0/-1",
            "gpio:gpiochip0/x", "gpio:gpiochip0/65536", "GPIO17", "sim", "sim:1", "none:", "None", "gpio:a/\u{661}",
        ])
    func invalidAddress(_ text: String) {
        #expect(PanelAddress(text) == nil)
    }

    private func failure(_ address: PanelAddress, in folder: String) -> DeviceError? {
        do throws(DeviceError) { _ = try GpioLine(finding: address, in: folder) } catch { return error }
        return nil
    }

    @Test(
        "if there is no chip, the error says so and what to set instead",
        arguments: ["gpio:GPIO17", "gpio:gpiochip0/17", "gpio:0/17"])
    func noChip(_ address: String) throws {
        let error = failure(try #require(PanelAddress(address)), in: TemporaryFolder().path)
        #expect(error?.code == .missing && error?.exitStatus == 3)
        #expect(error?.message == "\(address): this machine has no GPIO chip; enable one, or set this to sim: or none")
    }

    @Test(
        "another device with the name of a chip is reported by its path",
        arguments: [PanelAddress.gpioName("GPIO17"), .gpioOffset(chip: "0", offset: 17)])
    func notAChip(_ address: PanelAddress) {
        let folder = TemporaryFolder()
        // A device that is not a chip, and a dangling link that comes after it.
        #expect(symlink("/dev/null", folder.file("gpiochip2")) == 0)
        #expect(symlink("nowhere", folder.file("gpiochip10")) == 0)
        let error = failure(address, in: folder.path)
        #expect(error?.code == .unsupported && error?.operation == "gpiod_chip_open")
        #expect(error?.message == "\(folder.path)/gpiochip2: not a GPIO chip; list them with gpiodetect")
    }

    @Test("files whose names are not those of chips are ignored")
    func otherNames() {
        let folder = TemporaryFolder()
        for name in ["gpiochip", "gpiochipX", "gpio0", "ttyS0"] {
            #expect(symlink("/dev/null", folder.file(name)) == 0)
        }
        #expect(failure(.gpioName("GPIO17"), in: folder.path)?.code == .missing)
    }
}
