import Core

/// Writes down what earlier recordings lack, reads them once more, and erases what `keep-days` lets go, while nothing is
/// being recorded.
struct BacklogService: Service {
    let name = "backlog"
    let recorder: Recorder
    private let unreadable = UnreadableRecordings()

    func run() async throws {
        for await _ in recorder.rests {
            do { try await work() } catch is CancellationError { if Task.isCancelled { return } }
        }
    }

    /// Ends early when a recording begins: its own text comes first, and two sets of workers are too many for a small board.
    private func work() async throws {
        let events = recorder.hub.events(withPartials: false)
        guard recorder.live == nil else { return }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await catchUp() }
            group.addTask {
                for await event in events where event == .state(.recording) { return }
            }
            let first = await group.nextResult()
            group.cancelAll()
            await recorder.endRereaders()
            try first?.get()
        }
    }

    private func catchUp() async throws {
        let configuration = recorder.configuration
        let storage = configuration.storage
        let erased = try await Retention(keepDays: storage.keepDays).apply(
            to: recorder.archive, storage: storage.directory)
        for id in erased { Journal.tell(.notice, "erased", ["recording": "\(id)", "reason": "keep-days"]) }
        try await transcribe(configuration)
        guard configuration.readsTwice else { return }
        let rereading = Rereading(
            configuration: configuration, archive: recorder.archive, hub: recorder.hub, unreadable: unreadable)
        guard try await !rereading.waiting().isEmpty else { return }
        await recorder.restWorkers()
        for id in try await rereading.run(pool: recorder.rereaders()) {
            Journal.tell(.information, "reread", ["recording": "\(id)"])
        }
    }

    private func transcribe(_ configuration: Configuration) async throws {
        let backlog = Backlog(
            configuration: configuration, archive: recorder.archive, hub: recorder.hub, unreadable: unreadable)
        guard try await !backlog.waiting().isEmpty else { return }
        recorder.panel.tell(.transcribing(true))
        defer { recorder.panel.tell(.transcribing(false)) }
        let done = try await backlog.run(pool: recorder.workers())
        for id in done { Journal.tell(.information, "transcribed", ["recording": "\(id)"]) }
        await (try recorder.workers()).rest()
    }
}
