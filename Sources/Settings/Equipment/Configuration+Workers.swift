import Core
import Recognition

extension Configuration {
    /// Decode workers of the configured engine, started when needed. If it cannot be used, PocketSphinx replaces it.
    ///
    /// - Parameters:
    ///   - profile: one of the engine's.
    ///   - niceness: the workers' nice value.
    ///   - count: their number; nil for the board's default.
    /// - Throws: `DeviceError` with `missing`, `denied` or `damaged` if neither the engine nor PocketSphinx is complete.
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
            return WorkerPool(fallback, size: count, niceness: niceness, engineError: error)
        }
        return WorkerPool(
            wanted, size: count, niceness: niceness, fallback: fallback, partials: partialsCommand(wanted, spare))
    }

    /// The source of partial results: PocketSphinx, word by word, if the board has memory for it beside the engine; else
    /// greedy decoding of the speech so far.
    private func partialsCommand(_ wanted: WorkerCommand, _ spare: PocketSphinxEngine) -> WorkerCommand {
        if partialsEngine is PocketSphinxEngine, let command = try? spare.command(self, profile: "live") {
            return command
        }
        return (try? engine.command(self, profile: "fast")) ?? wanted
    }

    package var partialsEngine: any EngineEntry {
        let (engine, spare) = (engine, PocketSphinxEngine())
        guard engine.longestGroupSeconds > 0, WorkerPool.hasRoomForPartials, (try? spare.check(self)) != nil else {
            return engine
        }
        return spare
    }

    /// How recordings are segmented and decoded for the engine.
    package func transcriberSettings(for description: EngineDescription) -> Transcriber.Settings {
        var settings = Transcriber.Settings()
        settings.speech = speech
        settings.groups = GroupSettings(
            longestSeconds: EngineRegistry.all.first { $0.name == description.name }?.longestGroupSeconds ?? 0)
        return settings
    }
}
