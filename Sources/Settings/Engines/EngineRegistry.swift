import Core
import Recognition

/// All engines, in the order of the manual.
package enum EngineRegistry {
    /// The value of `recognizer.engine` that selects the first complete engine in `automatic`.
    package static let automaticName = "auto"

    package static let all: [any EngineEntry] = automatic + [WhisperEngine(), CommandEngine()]

    /// The engines that `auto` chooses from, best first. The last one is the fallback. If it is not complete, starting
    /// it reports what is missing.
    package static let automatic: [any EngineEntry] = [MoonshineEngine(), PocketSphinxEngine()]

    /// The default engine of a worker.
    package static let defaultEngine: any EngineEntry = PocketSphinxEngine()

    /// The values of `recognizer.engine` and `--engine`, in words.
    package static var forms: String {
        let forms = [automaticName] + all.map(\.form)
        return forms.dropLast().joined(separator: ", ") + " or " + (forms.last ?? "")
    }

    /// The profiles of all engines, without duplicates.
    package static var profiles: [String] {
        all.flatMap(\.profiles).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    /// The names, as in `EngineDescription.name`, of engines that output capitals and punctuation.
    static var punctuatingEngines: Set<String> {
        Set(all.filter(\.writesPunctuation).map(\.name)).union([EngineDescription.person])
    }

    /// Returns the engine that a value of `recognizer.engine` names; nil for `auto` and for unknown names.
    package static func entry(named value: String) -> (any EngineEntry)? { all.first { $0.isNamed(by: value) } }

    /// Returns the model in a folder, according to the first engine that recognizes it, and the engine's name.
    package static func model(at path: String) -> (engine: String, model: InstalledModel)? {
        for engine in all {
            if let model = engine.model(at: path) { return (engine.name, model) }
        }
        return nil
    }

    /// Whether `recognizer.engine` accepts this value.
    package static func isName(_ value: String) -> Bool { value == automaticName || entry(named: value) != nil }

    /// Returns the first complete engine, or the last one if none is complete.
    static func best(
        of engines: [any EngineEntry] = automatic, for configuration: Configuration
    ) -> any EngineEntry {
        let problems = problems(of: engines, for: configuration)
        return engines[min(problems.count, engines.count - 1)]
    }

    /// Returns the problems of the engines that precede the first complete one.
    package static func problems(
        of engines: [any EngineEntry] = automatic, for configuration: Configuration
    ) -> [DeviceError] {
        var problems: [DeviceError] = []
        for engine in engines.dropLast() {
            do throws(DeviceError) {
                try engine.check(configuration)
                return problems
            } catch { problems.append(error) }
        }
        return problems
    }
}
