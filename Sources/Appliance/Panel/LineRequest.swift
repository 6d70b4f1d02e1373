internal import CGpiod
import Core
import Glibc

/// A requested GPIO line. The value releases the line when it goes out of scope.
struct LineRequest: ~Copyable {
    enum Direction {
        /// Has a pull-up, is active when connected to ground, and reports both edges.
        case input
        /// Is inactive at first.
        case output
    }

    struct Edge {
        var rising: Bool
        var time: Duration

        /// The sequence number of the edge on this line, from 1; 0 if the library does not count edges.
        var sequence: UInt64
    }

    private let name: String
    // Safety: requested in `init` and released in `deinit`, never copied.
    private let handle: OpaquePointer

    /// - Throws: `DeviceError` with `busy`, `denied`, `missing` or `disconnected`.
    init(_ line: GpioLine, _ direction: Direction) throws(DeviceError) {
        guard
            let handle = fieldscribe_gpio_request(
                line.chip, UInt32(line.offset), GpioLine.consumer, direction == .output ? 1 : 0,
                Self.debounceMicroseconds)
        else { throw .request(of: line, status: errno) }
        name = "\(line.address)"
        self.handle = handle
    }

    deinit { fieldscribe_gpio_release(handle) }

    /// The debounce period in the kernel, if the line supports that. `Debouncer` does the rest.
    private static let debounceMicroseconds: UInt32 = 5_000

    /// Whether the line is active.
    borrowing func value() throws(DeviceError) -> Bool {
        let value = fieldscribe_gpio_get(handle)
        guard value >= 0 else { throw .gpio("gpiod_line_get_value", on: name) }
        return value > 0
    }

    borrowing func set(_ on: Bool) throws(DeviceError) {
        guard fieldscribe_gpio_set(handle, on ? 1 : 0) == 0 else { throw .gpio("gpiod_line_set_value", on: name) }
    }

    /// Waits for an edge. Returns nil after the timeout, after a Unix signal, or when `wakeup` is signalled.
    borrowing func edge(within timeout: Duration, or wakeup: EventDescriptor) throws(DeviceError) -> Edge? {
        if timeout > .zero {
            let descriptor = fieldscribe_gpio_descriptor(handle)
            guard descriptor >= 0 else { throw .gpio("gpiod_line_event_get_fd", on: name) }
            var polls = [descriptor, wakeup.number].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            guard poll(&polls, 2, pollMilliseconds(timeout)) > 0, polls[0].revents != 0 else { return nil }
        }
        var edge = fieldscribe_gpio_edge()
        switch fieldscribe_gpio_read(handle, &edge) {
        case 0: return nil
        case 1: return Edge(rising: edge.rising != 0, time: .nanoseconds(Int64(edge.time)), sequence: edge.sequence)
        default:
            if errno == EINTR { return nil }
            throw .gpio("gpiod_line_event_read", on: name)
        }
    }
}
