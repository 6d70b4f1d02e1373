import Core
import Recognition

extension Configuration {
    /// Decode workers of the engine that is configured, which start when they are needed. Where it cannot read, PocketSphinx
    /// reads in its place.
    ///
    /// - Parameters:
    ///   - profile: one of the engine's.
    ///   - niceness: how far the workers step back behind everything else.
    ///   - count: how many; nil: as many as suit the board.
    /// - Throws: `DeviceError` with `missing`, `denied` or `damaged` where what the engine needs is not whole, and PocketSphinx
    ///   cannot read either.
    package func workers(profile: String, niceness: Int32 = 0, count: Int? = nil) throws(DeviceError) -> WorkerPool {
        let engine = engine
        let count = count ?? workerCount
        guard engine.longestGroupSeconds > 0 else {
            return WorkerPool(try engine.command(self, profile: profile), size: count, niceness: niceness)
        }
        let spare = PocketSphinxEngine()
        let itsProfile = spare.profiles.contains(profile) ? profile : "fast"
        let fallback = try? spare.command(self, profile: itsProfile)
        let wanted: WorkerCommand
        do throws(DeviceError) { wanted = try engine.command(self, profile: profile) } catch {
            guard let fallback else { throw error }
            return WorkerPool(fallback, size: count, niceness: niceness, complaint: error)
        }
        return WorkerPool(
            wanted, size: count, niceness: niceness, fallback: fallback, partials: partialsCommand(wanted, spare))
    }

    /// What gives volatile readings: PocketSphinx, word by word, where the board has room for it beside what reads; else greedy
    /// readings of what was said so far.
    private func partialsCommand(_ wanted: WorkerCommand, _ spare: PocketSphinxEngine) -> WorkerCommand {
        if partialsEngine is PocketSphinxEngine, let command = try? spare.command(self, profile: "live") {
            return command
        }
        return (try? engine.command(self, profile: "fast")) ?? wanted
    }

    /// The engine that gives volatile readings.
    package var partialsEngine: any EngineEntry {
        let (engine, spare) = (engine, PocketSphinxEngine())
        let hasRoom = Self.cores > 1 && Self.memoryMegabytes >= Self.megabytesForTwoEngines
        guard engine.longestGroupSeconds > 0, hasRoom, (try? spare.check(self)) != nil else { return engine }
        return spare
    }

    private static let megabytesForTwoEngines = 900

    /// How recordings are cut and read for the engine that reads them.
    package func transcriberSettings(for description: EngineDescription) -> Transcriber.Settings {
        var settings = Transcriber.Settings()
        settings.speech = speech
        settings.groups = GroupSettings(
            longestSeconds: EngineRegistry.all.first { $0.name == description.name }?.longestGroupSeconds ?? 0)
        return settings
    }
}
