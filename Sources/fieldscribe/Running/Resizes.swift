@preconcurrency import Dispatch
import Glibc

/// Reports changes of the terminal's size.
final class Resizes: Sendable {
    private let source: any DispatchSourceSignal

    init(_ handler: @escaping @Sendable () -> Void) {
        source = DispatchSource.makeSignalSource(signal: SIGWINCH, queue: DispatchQueue(label: "resizes"))
        source.setEventHandler(handler: handler)
        source.resume()
    }

    deinit { source.cancel() }
}
