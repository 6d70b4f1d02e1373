import Core
import Recognition

/// All engines, in the order of the manual.
package enum EngineRegistry {
    /// The `recognizer.engine` value for the first complete one of `automatic`.
    package static let automaticName = "auto"

    package static let all: [any EngineEntry] = automatic + [WhisperEngine(), CommandEngine()]

    /// The engines that `auto` chooses from, the best first. The last is the fallback, and reports itself what it
    /// lacks.
    package static let automatic: [any EngineEntry] = [MoonshineEngine(), PocketSphinxEngine()]

    /// The default engine of a worker.
    package static let usual: any EngineEntry = PocketSphinxEngine()

    /// The values of `recognizer.engine` and `--engine`, in words.
    package static var forms: String {
        let forms = [automaticName] + all.map(\.form)
        return forms.dropLast().joined(separator: ", ") + " or " + (forms.last ?? "")
    }

    /// The profiles of all engines, each once.
    package static var profiles: [String] {
        all.flatMap(\.profiles).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    /// The names of engines that write capitals and punctuation themselves, as in `EngineDescription.name`.
    static var punctuating: Set<String> {
        Set(all.filter(\.writesPunctuation).map(\.name)).union([EngineDescription.person])
    }

    /// The engine that a value of `recognizer.engine` names; nil for `auto` and for unknown names.
    package static func entry(named value: String) -> (any EngineEntry)? { all.first { $0.isNamed(by: value) } }

    /// The model in a folder, by the first engine that recognizes it, and the engine's name.
    package static func model(at path: String) -> (engine: String, model: InstalledModel)? {
        for engine in all {
            if let model = engine.model(at: path) { return (engine.name, model) }
        }
        return nil
    }

    /// Whether `recognizer.engine` accepts this value.
    package static func isName(_ value: String) -> Bool { value == automaticName || entry(named: value) != nil }

    /// The first complete engine, else the last.
    static func best(
        of engines: [any EngineEntry] = automatic, for configuration: Configuration
    ) -> any EngineEntry {
        let lacking = lacks(of: engines, for: configuration)
        return engines[min(lacking.count, engines.count - 1)]
    }

    /// What the better engines than the first complete one lack.
    package static func lacks(
        of engines: [any EngineEntry] = automatic, for configuration: Configuration
    ) -> [DeviceError] {
        var lacks: [DeviceError] = []
        for engine in engines.dropLast() {
            do throws(DeviceError) {
                try engine.check(configuration)
                return lacks
            } catch { lacks.append(error) }
        }
        return lacks
    }
}
