import System

/// The archive's read connections, so that a query never delays a recording.
///
/// Each has a thread with a lower priority than the recorder's.
actor ArchiveReaders {
    /// The number of reads that run at the same time; others wait.
    private static let most = 3

    /// Used for its path and its shared file only, which never change.
    private let writer: LentConnection
    private let storage: Folder
    private var idle: [Reader] = []
    private var stops: [ObjectIdentifier: StopFlag] = [:]
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private var isReadingAll = false
    private var pauses = 0
    private var pausers: [CheckedContinuation<Void, Never>] = []

    /// - Parameter storage: the database's folder.
    init(beside writer: LentConnection, in storage: Folder) { (self.writer, self.storage) = (writer, storage) }

    /// Reads a consistent snapshot; starts again if a pause interrupts it.
    ///
    /// - Parameter isWhole: whether `body` reads the whole database, for minutes. Only one such read runs at a time, so
    ///   that others find a connection.
    /// - Throws: `CancellationError` within milliseconds after the task was cancelled.
    func read<Value: Sendable>(
        isWhole: Bool = false, _ body: @escaping @Sendable (ArchiveQueries) throws -> Value
    ) async throws -> Value {
        while true {
            try Task.checkCancellation()
            guard pauses == 0, stops.count < Self.most, !(isWhole && isReadingAll) else {
                await withTaskCancellationHandler {
                    await withCheckedContinuation { waiting.append($0) }
                } onCancel: {
                    Task { await self.wakeWaiting() }
                }
                continue
            }
            let stop = StopFlag()
            stops[ObjectIdentifier(stop)] = stop
            if isWhole { isReadingAll = true }
            let reader = idle.popLast() ?? Reader(beside: writer, in: storage)
            defer {
                stops.removeValue(forKey: ObjectIdentifier(stop))
                if isWhole { isReadingAll = false }
                idle.append(reader)
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

    /// Runs `body` without any read; running reads are interrupted, and start again afterwards.
    func pausing<Value: Sendable>(_ body: @Sendable () async throws -> Value) async rethrows -> Value {
        pauses += 1
        defer {
            pauses -= 1
            wake()
        }
        for stop in stops.values { stop.raise() }
        while !stops.isEmpty { await withCheckedContinuation { pausers.append($0) } }
        return try await body()
    }

    private func wake() {
        if stops.isEmpty {
            for pause in pausers { pause.resume() }
            pausers = []
        }
        if pauses == 0 { wakeWaiting() }
    }

    /// Lets waiting reads look again whether they can start, or were cancelled.
    private func wakeWaiting() {
        for reading in waiting { reading.resume() }
        waiting = []
    }
}

/// A read connection and its thread, which opens it for the first read.
// Safety: one read uses it at a time.
private final class Reader: @unchecked Sendable {
    /// Kept between reads: copying everything takes thousands of them.
    let thread = WorkThread(named: "reading", niceness: 5)
    private let writer: LentConnection
    private let storage: Folder
    private var opened: Connection?

    init(beside writer: LentConnection, in storage: Folder) { (self.writer, self.storage) = (writer, storage) }

    func read<Value>(until stop: StopFlag, _ body: (ArchiveQueries) throws -> Value) throws -> Value {
        // SQLite opens a path, which may lead to another archive by now.
        if opened == nil { try storage.checkPath() }
        let connection = try opened ?? Connection(readingBeside: writer.connection)
        opened = connection
        return try connection.reading(until: stop) { try body(ArchiveQueries(connection: connection)) }
    }
}

/// A connection that another isolation domain refers to.
// Safety: other domains use only what never changes.
final class LentConnection: @unchecked Sendable {
    let connection: Connection

    init(_ connection: Connection) { self.connection = connection }
}
