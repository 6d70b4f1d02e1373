internal import CGpiod
import Core
import System

/// An open GPIO chip. The value closes it when it goes out of scope.
struct GpioChip: ~Copyable {
    let path: String

    /// The name from the kernel, such as `gpiochip0`.
    let name: String

    /// The label from the driver, such as `pinctrl-bcm2711`.
    let label: String

    let lineCount: Int

    // Safety: opened in `init` and closed in `deinit`, never copied.
    private let handle: OpaquePointer

    /// - Throws: `DeviceError` with `missing`, `denied` or `unsupported`.
    init(opening path: String) throws(DeviceError) {
        guard let handle = gpiod_chip_open(path) else { throw .gpio("gpiod_chip_open", on: path) }
        var label = [CChar](repeating: 0, count: 64)
        var lineCount: UInt32 = 0
        guard fieldscribe_gpio_describe(handle, &label, label.count, &lineCount) == 0 else {
            let error = DeviceError.gpio("gpiod_chip_get_info", on: path)
            gpiod_chip_close(handle)
            throw error
        }
        self.path = path
        self.handle = handle
        name = lastName(of: path)
        self.label = text(label)
        self.lineCount = Int(lineCount)
    }

    deinit { gpiod_chip_close(handle) }

    /// Returns whether `name` is the chip's name, number, path or label.
    borrowing func matches(_ name: String) -> Bool {
        name == self.name || name == path || name == label || "gpiochip\(name)" == self.name
    }

    /// Returns the offset of the line with this name; nil if there is none.
    borrowing func offset(of name: String) -> Int? {
        let offset = fieldscribe_gpio_find(handle, name)
        return offset < 0 ? nil : Int(offset)
    }

    /// Returns the name of a line's consumer: nil if the line is not in use, empty if the consumer has no name.
    borrowing func consumer(of offset: Int) -> String? {
        var consumer = [CChar](repeating: 0, count: 64)
        return fieldscribe_gpio_user(handle, UInt32(offset), &consumer, consumer.count) > 0
            ? text(consumer) : nil
    }

    /// Returns the paths of the devices `gpiochipN` in a folder, ordered by N.
    static func paths(in folder: String) -> [String] {
        let prefix = "gpiochip"
        return ((try? names(inFolder: folder)) ?? []).filter { $0.hasPrefix(prefix) }
            .compactMap { Int($0.dropFirst(prefix.count)) }.sorted().map { "\(folder)/\(prefix)\($0)" }
    }
}

private func text(_ buffer: [CChar]) -> String {
    String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
