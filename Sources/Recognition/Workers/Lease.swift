import System

/// A worker and the only thread that uses it. Any thread may kill the worker.
// Safety: all blocking calls run on the lease's own thread, and `kill` may be called from any thread.
final class Lease: @unchecked Sendable {
    let process: any Worker
    let command: WorkerCommand
    private let thread: WorkThread

    init(_ process: any Worker, _ command: WorkerCommand, thread: WorkThread = WorkThread(named: "decode")) {
        self.process = process
        self.command = command
        self.thread = thread
    }

    /// Starts a command's worker: a process, or an engine in this process that is opened on the thread that uses it.
    static func start(_ command: WorkerCommand) async throws -> Lease {
        guard let local = command.local else {
            return try await onThread(named: "worker-start") { try Lease(WorkerProcess(command), command) }
        }
        return try await start(local, command, niceness: 0)
    }

    /// Opens an engine in this process, on the thread that uses it.
    static func start(_ local: LocalEngine, _ command: WorkerCommand, niceness: Int32) async throws -> Lease {
        let thread = WorkThread(named: "decode", niceness: niceness)
        return Lease(try await thread.run { try LocalWorker(local.provider) }, command, thread: thread)
    }

    func blocking<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await thread.run(body)
    }

    /// Kills the worker. Any thread may call this, even while another uses the worker.
    func kill() { process.kill() }
}

struct WeakLease {
    weak var lease: Lease?
}
