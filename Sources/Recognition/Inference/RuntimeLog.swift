internal import CLinux
import Glibc
import Synchronization
import System

/// Captures what ONNX Runtime logs or prints on standard error. Debian's version prints hundreds of lines while it
/// loads.
///
/// If `FIELDSCRIBE_LOG` enables debug messages of `decoder`, each line is logged; otherwise the output is dropped.
enum RuntimeLog {
    /// The library's level for warnings.
    static let minLevel: Int32 = 2

    /// The maximum size of the output to log from one call, in bytes.
    private static let maxBytes = 1 << 20

    private static let isLogged = Log.filter.includes(.debug, .decoder)

    /// The library's log callback. It refers to no object, because the library always calls the callback of the
    /// process's first runtime, even after that runtime is gone.
    static let callback:
        @convention(c) (
            UnsafeMutableRawPointer?, Int32, UnsafePointer<CChar>?, UnsafePointer<CChar>?, UnsafePointer<CChar>?,
            UnsafePointer<CChar>?
        ) -> Void = { _, _, _, _, _, message in
            if let message { report(String(cString: message)) }
        }

    /// The number of running calls, and a copy of the original standard error; -1 if there is no redirection.
    private static let redirection = Mutex<(users: Int, original: Int32)>((0, -1))

    /// Redirects standard error to an unnamed file during `body`. Concurrent calls share one redirection.
    @discardableResult
    static func whileRedirected<Value, Failure>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
        let file = fieldscribe_memory_file("onnxruntime")
        guard file >= 0 else { return try body() }
        redirection.withLock { state in
            state.users += 1
            guard state.original < 0 else { return }
            state.original = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)
            if state.original >= 0 { dup2(file, STDERR_FILENO) }
        }
        defer {
            redirection.withLock { state in
                state.users -= 1
                guard state.users == 0, state.original >= 0 else { return }
                dup2(state.original, STDERR_FILENO)
                close(state.original)
                state.original = -1
            }
            if isLogged { reportContent(of: file) }
            close(file)
        }
        return try body()
    }

    private static func reportContent(of file: Int32) {
        let text = [UInt8](unsafeUninitializedCapacity: maxBytes) { buffer, count in
            count = max(0, pread(file, buffer.baseAddress, buffer.count, 0))
        }
        for line in String(decoding: text, as: UTF8.self).split(whereSeparator: \.isNewline) { report(String(line)) }
    }

    private static func report(_ message: String) {
        Log.debug(.decoder, "onnxruntime", ["message": message])
    }
}
