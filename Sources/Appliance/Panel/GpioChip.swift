internal import CGpiod
import Core
import System

/// An open GPIO chip; closed when it goes out of scope.
struct GpioChip: ~Copyable {
    let path: String

    /// The kernel's name: `gpiochip0`.
    let name: String

    /// The driver's name: `pinctrl-bcm2711`.
    let label: String
    let lineCount: Int

    // Safety: opened in init and closed in deinit, never copied.
    private let handle: OpaquePointer

    /// - Throws: `DeviceError` with `missing`, `denied` or `unsupported`.
    init(opening path: String) throws(DeviceError) {
        guard let handle = gpiod_chip_open(path) else { throw .gpio("gpiod_chip_open", on: path) }
        var label = [CChar](repeating: 0, count: 64)
        var lines: UInt32 = 0
        guard fieldscribe_gpio_describe(handle, &label, label.count, &lines) == 0 else {
            let error = DeviceError.gpio("gpiod_chip_get_info", on: path)
            gpiod_chip_close(handle)
            throw error
        }
        self.path = path
        self.handle = handle
        name = lastName(of: path)
        self.label = text(label)
        lineCount = Int(lines)
    }

    deinit { gpiod_chip_close(handle) }

    /// Whether `name` is the chip's name, number, path or label.
    borrowing func answers(to name: String) -> Bool {
        name == self.name || name == path || name == label || "gpiochip\(name)" == self.name
    }

    /// Returns the offset of the line with this name; nil if there is none.
    borrowing func offset(of name: String) -> Int? {
        let offset = fieldscribe_gpio_find(handle, name)
        return offset < 0 ? nil : Int(offset)
    }

    /// Returns the name of a line's consumer: nil if the line is unused, empty if the consumer has no name.
    borrowing func user(of offset: Int) -> String? {
        var user = [CChar](repeating: 0, count: 64)
        return fieldscribe_gpio_user(handle, UInt32(offset), &user, user.count) > 0 ? text(user) : nil
    }

    /// Returns the paths of the devices `gpiochipN` in a folder, ordered by number.
    static func paths(in folder: String) -> [String] {
        let prefix = "gpiochip"
        return ((try? names(inFolder: folder)) ?? []).filter { $0.hasPrefix(prefix) }
            .compactMap { Int($0.dropFirst(prefix.count)) }.sorted().map { "\(folder)/\(prefix)\($0)" }
    }
}

private func text(_ buffer: [CChar]) -> String {
    String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
