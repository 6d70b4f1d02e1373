import Core
import System

/// The connections on which the archive is read, so that nothing that is asked of it waits in front of what is recorded.
///
/// Each reading has a thread while it lasts, below the priority of what records.
actor ArchiveReaders {
    /// So many readings go on at once; more wait.
    private static let most = 3

    /// Of it only its path and its shared file are used, which never change.
    private let writer: LentConnection
    private let storage: Folder
    private var idle: [Reader] = []
    private var stops: [ObjectIdentifier: ReadingStop] = [:]
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private var isReadingAll = false
    private var pauses = 0
    private var pausers: [CheckedContinuation<Void, Never>] = []

    /// - Parameter storage: the database's folder.
    init(beside writer: LentConnection, in storage: Folder) { (self.writer, self.storage) = (writer, storage) }

    /// Reads, as of one moment; begins anew where a pause has interrupted it.
    ///
    /// - Parameter isWhole: whether it reads all there is, for minutes: only one does at a time, so that the others find room.
    /// - Throws: `CancellationError` where the task was cancelled, within some milliseconds of it.
    func read<Value: Sendable>(
        isWhole: Bool = false, _ body: @escaping @Sendable (ArchiveQueries) throws -> Value
    ) async throws -> Value {
        while true {
            try Task.checkCancellation()
            guard pauses == 0, stops.count < Self.most, !(isWhole && isReadingAll) else {
                await withCheckedContinuation { waiting.append($0) }
                continue
            }
            let stop = ReadingStop()
            stops[ObjectIdentifier(stop)] = stop
            if isWhole { isReadingAll = true }
            let reader = idle.popLast() ?? Reader(beside: writer, in: storage)
            let result = await withTaskCancellationHandler {
                await Self.run(body, on: reader, until: stop)
            } onCancel: {
                stop.raise()
            }
            stops.removeValue(forKey: ObjectIdentifier(stop))
            if isWhole { isReadingAll = false }
            idle.append(reader)
            wake()
            do { return try result.get() } catch is ReadingStop.Raised { continue }
        }
    }

    /// Keeps readings out while `body` runs; those that go on are interrupted, and begin anew afterwards.
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
        guard pauses == 0 else { return }
        for reading in waiting { reading.resume() }
        waiting = []
    }

    private static func run<Value: Sendable>(
        _ body: @escaping @Sendable (ArchiveQueries) throws -> Value, on reader: Reader, until stop: ReadingStop
    ) async -> Result<Value, any Error> {
        do {
            return .success(try await reader.thread.run { try reader.read(until: stop, body) })
        } catch { return .failure(error) }
    }
}

/// A connection that reads, with the thread that uses it; opened there with its first reading.
// Safety: one reading has it at a time.
private final class Reader: @unchecked Sendable {
    /// Stays, since a copy of all reads some thousand times.
    let thread = WorkThread(named: "reading", niceness: 5)
    private let writer: LentConnection
    private let storage: Folder
    private var opened: Connection?

    init(beside writer: LentConnection, in storage: Folder) { (self.writer, self.storage) = (writer, storage) }

    func read<Value>(until stop: ReadingStop, _ body: (ArchiveQueries) throws -> Value) throws -> Value {
        // SQLite opens a path, and another archive may have it now.
        if opened == nil { try storage.checkPath() }
        let connection = try opened ?? Connection(readingBeside: writer.connection)
        opened = connection
        return try connection.reading(until: stop) { try body(ArchiveQueries(connection: connection)) }
    }
}

/// A connection that is named from elsewhere.
// Safety: only what never changes of it is used elsewhere.
final class LentConnection: @unchecked Sendable {
    let connection: Connection

    init(_ connection: Connection) { self.connection = connection }
}
