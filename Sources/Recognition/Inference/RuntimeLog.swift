internal import CLinux
import Core
import Glibc
import Synchronization
import System

/// What ONNX Runtime logs, and what it prints besides: Debian's writes hundreds of lines to standard error while it loads.
///
/// None of it reaches standard error, unless `FIELDSCRIBE_LOG` asks for `decoder=debug`: then it is logged, line by line.
final class RuntimeLog {
    /// Of the library's levels: warnings and worse.
    static let leastLevel: Int32 = 2

    /// No more is kept of what the library prints during one call.
    private static let most = 1 << 20

    private let isWanted = Log.filter.includes(.debug, .decoder)

    /// What the library calls with each line.
    // Safety: the first parameter is the log of the runtime that calls, which lives longer than that.
    static let take:
        @convention(c) (
            UnsafeMutableRawPointer?, Int32, UnsafePointer<CChar>?, UnsafePointer<CChar>?, UnsafePointer<CChar>?,
            UnsafePointer<CChar>?
        ) -> Void = { log, _, _, _, _, message in
            guard let log, let message else { return }
            Unmanaged<RuntimeLog>.fromOpaque(log).takeUnretainedValue().tell(String(cString: message))
        }

    /// How many redirect standard error, which is the process's, and what it was before the first of them; -1 while it is that.
    private static let redirection = Mutex<(users: Int, own: Int32)>((0, -1))

    /// Does something while what is written to standard error goes to a file that nobody sees. Of several at the same time the first
    /// redirects it, and the last puts it back.
    @discardableResult
    func whileRedirected<Value>(_ body: () -> Value) -> Value {
        let file = fieldscribe_memory_file("onnxruntime")
        guard file >= 0 else { return body() }
        Self.redirection.withLock { state in
            state.users += 1
            guard state.own < 0 else { return }
            state.own = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)
            if state.own >= 0 { dup2(file, STDERR_FILENO) }
        }
        defer {
            Self.redirection.withLock { state in
                state.users -= 1
                guard state.users == 0, state.own >= 0 else { return }
                dup2(state.own, STDERR_FILENO)
                close(state.own)
                state.own = -1
            }
            if isWanted { tellContent(of: file) }
            close(file)
        }
        return body()
    }

    private func tellContent(of file: Int32) {
        let text = [UInt8](unsafeUninitializedCapacity: Self.most) { buffer, count in
            count = max(0, pread(file, buffer.baseAddress, buffer.count, 0))
        }
        for line in String(decoding: text, as: UTF8.self).split(whereSeparator: \.isNewline) { tell(String(line)) }
    }

    private func tell(_ message: String) {
        Log.debug(.decoder, "onnxruntime", ["message": message])
    }
}
