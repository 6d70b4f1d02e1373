import Core
import Recognition
import Synchronization

/// The implementation of an analyzer. Its tasks retain this object, not the analyzer.
final class Analysis: Sendable {
    typealias Handler = @Sendable (AudioTimeRange, Bool, Bool) -> Void

    private struct State {
        var context = AnalysisContext()
        var hasStarted = false
        /// Whether no more audio is accepted.
        var hasFinished = false
        var isCancelled = false
        var isReading = false
        /// The task that reads the current or the last input.
        var reader: Task<Void, any Error>?
        var branches: [any AnalysisBranch] = []
        var tasks: [Task<Void, Never>] = []
        var runningBranches = 0
        var unpreparedBranches = 0
        var failure: SFSpeechError?
    }

    private struct Progress {
        /// The end of the audio so far.
        var end = SamplePosition.zero
        /// The positions before which each branch's results are final.
        var finalizedByBranch: [SamplePosition] = []
        var reportedRange: AudioTimeRange?
        var handler: Handler?
        var waiters: [(position: SamplePosition, queue: AsyncQueue<Never>)] = []

        var finalized: SamplePosition { finalizedByBranch.min() ?? .zero }
        var volatileRange: AudioTimeRange? {
            end == .zero ? nil : AudioTimeRange(SampleRange(min(finalized, end), end))
        }
    }

    private let modules: [any SpeechModule]
    private let options: SpeechAnalyzer.Options
    private let state = Mutex(State())
    private let progress = Mutex(Progress())
    /// Used as a lock: contains an element while audio is being passed to the modules.
    private let inputLock = AsyncQueue<Void>(capacity: 1)
    /// Finishes when all models are loaded, or when the analysis ends.
    private let prepared = AsyncQueue<Never>(capacity: 1)
    /// Finishes when all branches have ended.
    private let done = AsyncQueue<Never>(capacity: 1)

    init(modules: [any SpeechModule], options: SpeechAnalyzer.Options) {
        self.modules = modules
        self.options = options
    }

    var context: AnalysisContext { state.withLock { $0.context } }

    func setContext(_ context: AnalysisContext) throws {
        try state.withLock { state in
            guard !state.hasStarted else {
                throw SFSpeechError(.invalidState, "the context cannot change after the analysis has started")
            }
            state.context = context
        }
    }

    // MARK: Starting

    func prepare() async throws {
        try begin()
        _ = try await prepared.next()
        try checkFailure()
        try checkCancelled()
    }

    /// Starts the branches on the first call.
    private func begin() throws {
        try state.withLock { state in
            if let failure = state.failure { throw failure }
            if state.isCancelled { throw Self.cancelled }
            if state.hasFinished { throw Self.finished }
            guard !state.hasStarted else { return }
            state.hasStarted = true
            do { state.branches = try makeBranches(state.context) } catch {
                state.failure = SFSpeechError(error)
                done.finish()
                throw error
            }
            state.runningBranches = state.branches.count
            state.unpreparedBranches = state.branches.count
            progress.withLock { $0.finalizedByBranch = state.branches.map { _ in .zero } }
            for (index, branch) in state.branches.enumerated() {
                state.tasks.append(Task(priority: options.priority) { [self] in await run(branch, index) })
            }
        }
    }

    private static let finished = SFSpeechError(
        .invalidState, "this SpeechAnalyzer has finished; create another one")
    private static let cancelled = SFSpeechError(.canceled, "the analysis was cancelled")

    /// Creates a branch for each module. If a module cannot be used, the other modules' results end with its error.
    private func makeBranches(_ context: AnalysisContext) throws -> [any AnalysisBranch] {
        guard !modules.isEmpty else {
            throw SFSpeechError(.invalidState, "this SpeechAnalyzer has no modules; pass a SpeechTranscriber")
        }
        let detector = modules.lazy.compactMap { $0 as? SpeechDetector }.first
        let request = BranchRequest(
            options: options, context: context, sensitivity: detector?.sensitivityLevel ?? .medium)
        let branches = modules.map { module in Result { try makeBranch(module, request) } }
        do { return try branches.map { try $0.get() } } catch {
            for branch in branches { try? branch.get().finish(throwing: SFSpeechError(error)) }
            throw error
        }
    }

    private func makeBranch(_ module: any SpeechModule, _ request: BranchRequest) throws -> any AnalysisBranch {
        guard let module = module as? any AnalyzableModule else {
            throw SFSpeechError(
                .invalidState, "\(type(of: module)) is not a module; pass a SpeechTranscriber or a SpeechDetector")
        }
        return try module.makeBranch(request)
    }

    private func run(_ branch: any AnalysisBranch, _ index: Int) async {
        do {
            try await branch.run(prepared: { [self] in markPrepared() }, settled: { [self] in settle(index, $0) })
        } catch {
            let failure = SFSpeechError(error)
            if failure.code != .canceled { fail(failure) }
        }
        let (failure, isLast) = state.withLock { state in
            state.runningBranches -= 1
            return (state.failure, state.runningBranches == 0)
        }
        branch.finish(throwing: failure)
        settle(index, SamplePosition(.max))
        guard isLast else { return }
        prepared.finish()
        done.finish()
    }

    private func markPrepared() {
        let isLast = state.withLock { state in
            state.unpreparedBranches -= 1
            return state.unpreparedBranches == 0
        }
        if isLast { prepared.finish() }
    }

    /// Ends the analysis because of an error. Results from before the error can still be read.
    private func fail(_ failure: SFSpeechError) {
        let (branches, reader) = state.withLock { state in
            state.failure = state.failure ?? failure
            state.hasFinished = true
            return (state.branches, state.reader)
        }
        reader?.cancel()
        for branch in branches { branch.input.queue.cancel() }
    }

    // MARK: Input

    /// Starts to read an input.
    ///
    /// - Parameter finishes: Whether the analysis finishes at the end of the input.
    @discardableResult
    func start<Input: AsyncSequence & Sendable>(_ input: Input, finishes: Bool = false) throws -> Task<Void, any Error>
    where Input.Element == AnalyzerInput {
        try begin()
        try state.withLock { state in
            guard !state.isReading else {
                throw SFSpeechError(.invalidState, "another input is being analyzed; wait for its end")
            }
            state.isReading = true
        }
        let reader = Task(priority: options.priority) { [self] in
            do { try await read(input) } catch {
                endInput(because: SFSpeechError(error))
                throw error
            }
            if finishes { endInput() }
        }
        let isOver = state.withLock { state in
            state.reader = reader
            return state.hasFinished
        }
        if isOver { reader.cancel() }
        return reader
    }

    func analyze<Input: AsyncSequence & Sendable>(_ input: Input) async throws -> AudioTime?
    where Input.Element == AnalyzerInput {
        let reader = try start(input)
        do {
            try await withTaskCancellationHandler {
                try await reader.value
            } onCancel: {
                cancel()
            }
        } catch {
            try checkFailure()
            throw SFSpeechError(error)
        }
        let end = progress.withLock { $0.end }
        return end == .zero ? nil : AudioTime(end)
    }

    private func read<Input: AsyncSequence & Sendable>(_ input: Input) async throws
    where Input.Element == AnalyzerInput {
        defer { state.withLock { $0.isReading = false } }
        var converter = InputConverter(start: progress.withLock { $0.end })
        for try await buffer in input {
            let chunks = try converter.chunks(of: buffer)
            let end = converter.position
            try await withInputLock { try await self.pass(chunks, end) }
        }
        try checkCancelled()
        let rest = try converter.finish()
        let end = converter.position
        try await withInputLock { try await self.pass(rest, end) }
    }

    private func pass(_ chunks: [AudioChunk], _ end: SamplePosition) async throws {
        let branches = state.withLock { $0.branches }
        for chunk in chunks {
            for branch in branches { try await branch.input.queue.send(chunk) }
        }
        progress.withLock { $0.end = max($0.end, end) }
        report()
    }

    private func withInputLock(_ body: () async throws -> Void) async throws {
        try await inputLock.send(())
        defer { _ = inputLock.nextNow() }
        try await body()
    }

    // MARK: Finishing

    func finalize(through time: AudioTime?) async throws {
        try begin()
        try await withInputLock {
            // An empty gap ends the utterance without adding audio.
            let end = self.progress.withLock { $0.end }
            guard self.progress.withLock({ $0.finalized < min(end, time?.position ?? end) }) else { return }
            try await self.pass([.gap(Gap(SampleRange(end, end), cause: .paused))], end)
        }
        let reached = AsyncQueue<Never>(capacity: 1)
        let isReached = progress.withLock { progress in
            let position = min(progress.end, time?.position ?? progress.end)
            if progress.finalized >= position { return true }
            progress.waiters.append((position, reached))
            return false
        }
        if !isReached { _ = try await reached.next() }
        try checkFailure()
        try checkCancelled()
    }

    func finish() async throws {
        // If the analysis has not started, only the result sequences have to end.
        guard state.withLock({ $0.hasStarted }) else { return cancel() }
        if let reader = state.withLock({ $0.reader }) {
            _ = await withTaskCancellationHandler {
                await reader.result
            } onCancel: {
                cancel()
            }
        }
        endInput()
        _ = try await done.next()
        if Task.isCancelled { cancel() }
        try checkFailure()
        try checkCancelled()
    }

    /// Ends the input. The results for the audio so far are still reported.
    private func endInput(because failure: SFSpeechError? = nil) {
        let branches = state.withLock { state in
            state.hasFinished = true
            if failure?.code != .canceled { state.failure = state.failure ?? failure }
            return state.branches
        }
        for branch in branches { branch.input.queue.finish() }
    }

    func cancel() {
        let (branches, tasks, reader) = state.withLock { state in
            state.hasFinished = true
            state.isCancelled = true
            return (state.branches, state.tasks, state.reader)
        }
        for task in tasks { task.cancel() }
        reader?.cancel()
        for branch in branches { branch.cancel() }
        // If no branches were started, the modules' result sequences must still end.
        if branches.isEmpty {
            let request = BranchRequest(options: options, context: context, sensitivity: .medium)
            for module in modules { (try? (module as? any AnalyzableModule)?.makeBranch(request))?.cancel() }
            done.finish()
        }
        inputLock.cancel()
        prepared.finish()
    }

    private func checkFailure() throws {
        if let failure = state.withLock({ $0.failure }) { throw failure }
        if state.withLock({ $0.isCancelled && $0.hasStarted }) { throw Self.cancelled }
    }

    private func checkCancelled() throws {
        do { try Task.checkCancellation() } catch { throw SFSpeechError(error) }
    }

    // MARK: Progress

    var volatileRange: AudioTimeRange? { progress.withLock { $0.volatileRange } }

    func setHandler(_ handler: Handler?) { progress.withLock { $0.handler = handler } }

    private func settle(_ index: Int, _ position: SamplePosition) {
        let reached = progress.withLock { progress in
            guard progress.finalizedByBranch.indices.contains(index) else { return [AsyncQueue<Never>]() }
            progress.finalizedByBranch[index] = max(progress.finalizedByBranch[index], position)
            let finalized = progress.finalized
            defer { progress.waiters.removeAll { $0.position <= finalized } }
            return progress.waiters.filter { $0.position <= finalized }.map(\.queue)
        }
        for queue in reached { queue.finish() }
        report()
    }

    /// Calls the handler while holding the lock, so that changes arrive in order.
    private func report() {
        progress.withLock { progress in
            guard let handler = progress.handler, let range = progress.volatileRange, range != progress.reportedRange
            else { return }
            let previous = progress.reportedRange
            progress.reportedRange = range
            handler(range, range.start != previous?.start ?? .zero, range.end != previous?.end ?? .zero)
        }
    }
}
