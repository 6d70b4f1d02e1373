import Core
import Platform

/// The connections on which the archive is read, so that nothing that is asked of it waits in front of what is recorded.
///
/// Each reading has a thread of its own while it lasts, below the priority of what records.
actor ArchiveReaders {
    /// So many readings go on at once; more wait.
    private static let most = 3

    /// Of it only its path and its shared file are used, which never change.
    private let writer: LentConnection
    private var idle: [LentConnection] = []
    private var stops: [ObjectIdentifier: ReadingStop] = [:]
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private var isReadingAll = false
    private var pauses = 0
    private var pausers: [CheckedContinuation<Void, Never>] = []

    init(beside writer: LentConnection) { self.writer = writer }

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
            let reader = idle.popLast()
            let result = await withTaskCancellationHandler {
                await self.run(body, on: reader, until: stop)
            } onCancel: {
                stop.raise()
            }
            stops.removeValue(forKey: ObjectIdentifier(stop))
            if isWhole { isReadingAll = false }
            if let used = result.reader { idle.append(used) }
            wake()
            do { return try result.value.get() } catch is ReadingStop.Raised { continue }
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

    private nonisolated func run<Value: Sendable>(
        _ body: @escaping @Sendable (ArchiveQueries) throws -> Value, on idle: LentConnection?,
        until stop: ReadingStop
    ) async -> (reader: LentConnection?, value: Result<Value, any Error>) {
        let writer = writer
        do {
            return try await onThread(named: "reading", niceness: 5) {
                let reader = try idle ?? LentConnection(Connection(readingBeside: writer.connection))
                let value = Result {
                    try reader.connection.reading(until: stop) {
                        try body(ArchiveQueries(connection: reader.connection))
                    }
                }
                return (reader, value)
            }
        } catch { return (nil, .failure(error)) }
    }
}

/// A connection on its way to the thread that uses it.
// Safety: one reading has it at a time.
final class LentConnection: @unchecked Sendable {
    let connection: Connection

    init(_ connection: Connection) { self.connection = connection }
}
