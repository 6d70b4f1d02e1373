import System

/// The archive's read connections, so that queries never delay a recording.
///
/// Each connection has a thread with a lower priority than the recorder's.
actor ArchiveReaders {
    /// The maximum number of reads that run at the same time; others wait.
    private static let maxReads = 3

    /// Used only for its path and its shared file, which never change.
    private let writer: LentConnection
    private let storage: Folder
    private var idleReaders: [Reader] = []
    private var stopFlags: [ObjectIdentifier: StopFlag] = [:]
    private var waitingReads: [CheckedContinuation<Void, Never>] = []
    private var isReadingAll = false
    /// The number of calls to `pausing` that are waiting or running.
    private var pauseCount = 0
    private var waitingPauses: [CheckedContinuation<Void, Never>] = []

    /// - Parameter storage: The database's folder.
    init(beside writer: LentConnection, in storage: Folder) { (self.writer, self.storage) = (writer, storage) }

    /// Runs `body` on a consistent snapshot. Runs it again if a pause interrupts it.
    ///
    /// - Parameter isWhole: Whether `body` reads the whole database, which takes minutes. Only one such read runs at a
    ///   time, so that connections are left for other reads.
    /// - Throws: `CancellationError`, within milliseconds after the task was cancelled.
    func read<Value: Sendable>(
        isWhole: Bool = false, _ body: @escaping @Sendable (ArchiveQueries) throws -> Value
    ) async throws -> Value {
        while true {
            try Task.checkCancellation()
            guard pauseCount == 0, stopFlags.count < Self.maxReads, !(isWhole && isReadingAll) else {
                await withTaskCancellationHandler {
                    await withCheckedContinuation { waitingReads.append($0) }
                } onCancel: {
                    Task { await self.wakeWaiting() }
                }
                continue
            }
            let stop = StopFlag()
            stopFlags[ObjectIdentifier(stop)] = stop
            if isWhole { isReadingAll = true }
            let reader = idleReaders.popLast() ?? Reader(beside: writer, in: storage)
            defer {
                stopFlags.removeValue(forKey: ObjectIdentifier(stop))
                if isWhole { isReadingAll = false }
                idleReaders.append(reader)
                wake()
            }
            do {
                return try await withTaskCancellationHandler {
                    try await reader.thread.run { try reader.read(until: stop, body) }
                } onCancel: {
                    stop.raise()
                }
            } catch is Connection.Interrupted { continue }
        }
    }

    /// Runs `body` while nothing is read. Running reads are interrupted and start again afterwards.
    func pausing<Value: Sendable>(_ body: @Sendable () async throws -> Value) async rethrows -> Value {
        pauseCount += 1
        defer {
            pauseCount -= 1
            wake()
        }
        for stop in stopFlags.values { stop.raise() }
        while !stopFlags.isEmpty { await withCheckedContinuation { waitingPauses.append($0) } }
        return try await body()
    }

    private func wake() {
        if stopFlags.isEmpty {
            for pause in waitingPauses { pause.resume() }
            waitingPauses = []
        }
        if pauseCount == 0 { wakeWaiting() }
    }

    /// Resumes the waiting reads, which check whether they can start or were cancelled.
    private func wakeWaiting() {
        for read in waitingReads { read.resume() }
        waitingReads = []
    }
}

/// A read connection and its thread. The first read opens the connection.
// Safety: only one read at a time uses it.
private final class Reader: @unchecked Sendable {
    /// The thread is kept between reads, because copying everything takes thousands of reads.
    let thread = WorkThread(named: "reading", niceness: 5)
    private let writer: LentConnection
    private let storage: Folder
    private var connection: Connection?

    init(beside writer: LentConnection, in storage: Folder) { (self.writer, self.storage) = (writer, storage) }

    func read<Value>(until stop: StopFlag, _ body: (ArchiveQueries) throws -> Value) throws -> Value {
        // SQLite opens the archive by path, which may lead to another archive by now.
        if self.connection == nil { try storage.checkPath() }
        let connection = try self.connection ?? Connection(readingBeside: writer.connection)
        self.connection = connection
        return try connection.readSnapshot(until: stop) { try body(ArchiveQueries(connection: connection)) }
    }
}

/// A connection that another isolation domain refers to.
// Safety: other domains use only properties that never change.
final class LentConnection: @unchecked Sendable {
    let connection: Connection

    init(_ connection: Connection) { self.connection = connection }
}
