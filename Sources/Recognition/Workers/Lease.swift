import Glibc
import System

/// A worker of the pool, and the one thread that talks to it.
// Safety: the pool gives a lease to one caller at a time, so only one thread at a time uses the process.
final class Lease: @unchecked Sendable {
    let process: WorkerProcess
    let command: WorkerCommand
    private let thread = WorkThread(named: "decode")

    init(_ process: WorkerProcess, _ command: WorkerCommand) {
        self.process = process
        self.command = command
    }

    func blocking<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await thread.run(body)
    }

    /// Kills the process. Any thread may call this, even while another uses it.
    func kill() { _ = Glibc.kill(process.id, SIGKILL) }
}

struct WeakLease {
    weak var lease: Lease?
}
