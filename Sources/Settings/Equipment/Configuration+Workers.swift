import Core
import Recognition

extension Configuration {
    /// Returns a pool of decode workers for the configured engine, which are started when needed. If an engine that
    /// decodes groups of utterances cannot be used, PocketSphinx replaces it.
    ///
    /// - Parameters:
    ///   - profile: One of the engine's profiles.
    ///   - niceness: The workers' nice value.
    ///   - count: The maximum number of workers; nil for the board's default.
    /// - Throws: `DeviceError` with `missing`, `denied` or `damaged` if the engine is not complete and is not replaced.
    package func workers(profile: String, niceness: Int32 = 0, count: Int? = nil) throws(DeviceError) -> WorkerPool {
        let engine = engine
        let count = count ?? workerCount
        guard engine.maximumGroupSeconds > 0 else {
            return WorkerPool(try engine.command(self, profile: profile), size: count, niceness: niceness)
        }
        let pocketSphinx = PocketSphinxEngine()
        let fallbackProfile = pocketSphinx.profiles.contains(profile) ? profile : "fast"
        let fallback = try? pocketSphinx.command(self, profile: fallbackProfile)
        let preferred: WorkerCommand
        do throws(DeviceError) { preferred = try engine.command(self, profile: profile) } catch {
            guard let fallback else { throw error }
            return WorkerPool(fallback, size: count, niceness: niceness, engineError: error)
        }
        return WorkerPool(
            preferred, size: count, niceness: niceness, fallback: fallback,
            partials: partialsCommand(preferred, pocketSphinx))
    }

    /// Returns the command for partial results. If the board has memory for PocketSphinx in addition to the engine,
    /// PocketSphinx decodes word by word. Otherwise, the engine's profile `fast` decodes the utterance so far.
    private func partialsCommand(_ preferred: WorkerCommand, _ pocketSphinx: PocketSphinxEngine) -> WorkerCommand {
        if partialsEngine is PocketSphinxEngine, let command = try? pocketSphinx.command(self, profile: "live") {
            return command
        }
        return (try? engine.command(self, profile: "fast")) ?? preferred
    }

    /// The engine for partial results.
    package var partialsEngine: any EngineEntry {
        let (engine, pocketSphinx) = (engine, PocketSphinxEngine())
        guard engine.maximumGroupSeconds > 0, WorkerPool.hasMemoryForPartials, (try? pocketSphinx.check(self)) != nil
        else { return engine }
        return pocketSphinx
    }

    /// Returns the settings with which recordings are segmented and decoded for an engine.
    package func transcriberSettings(for description: EngineDescription, profile: String) -> Transcriber.Settings {
        var settings = Transcriber.Settings()
        settings.speech = speech
        if let engine = EngineRegistry.all.first(where: { $0.name == description.name }) {
            settings.groups = GroupSettings(
                maximumSeconds: engine.maximumGroupSeconds,
                maximumJoinedSeconds: profile == SecondPass.profile ? engine.maximumJoinedSeconds(in: self) : 0)
        }
        return settings
    }
}
