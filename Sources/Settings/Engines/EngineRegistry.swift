import Core

/// Every engine there is, in the order of the manual.
package enum EngineRegistry {
    /// What `recognizer.engine` says for the first of `automatic` that is whole.
    package static let automaticName = Configuration.Recognizer.automaticEngine

    /// In the order of the manual.
    package static let all: [any EngineEntry] = automatic + [WhisperEngine(), CommandEngine()]

    /// Those that `auto` chooses from, the best first; the last always works, and tells what it lacks itself.
    package static let automatic: [any EngineEntry] = [MoonshineEngine(), PocketSphinxEngine()]

    /// What `recognizer.engine` and `--engine` may say, in words.
    package static var forms: String {
        let forms = [automaticName] + all.map(\.form)
        return forms.dropLast().joined(separator: ", ") + " or " + (forms.last ?? "")
    }

    /// The profiles of all engines, each once.
    package static var profiles: [String] {
        all.flatMap(\.profiles).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    /// Names that profiles had in an earlier version, and may still be called by.
    package static let formerProfiles = ["quick": "fast"]

    /// The names of engines that write capitals and punctuation themselves, as `EngineDescription.name` tells them.
    static var punctuating: Set<String> {
        Set(all.filter(\.writesPunctuation).map(\.name)).union([EngineDescription.person])
    }

    /// The engine that a value of `recognizer.engine` names; nil for `auto`, and for what names none.
    package static func entry(named value: String) -> (any EngineEntry)? { all.first { $0.isNamed(by: value) } }

    /// What `recognizer.engine` may say, for who reads configurations.
    static var names: EngineNames { EngineNames(forms: forms, accepts: isName) }

    /// Whether this may stand in `recognizer.engine`.
    package static func isName(_ value: String) -> Bool { value == automaticName || entry(named: value) != nil }

    /// The first that is whole, else the last.
    static func best(
        of engines: [any EngineEntry] = automatic, for configuration: Configuration
    ) -> any EngineEntry {
        let lacking = lacks(of: engines, for: configuration)
        return engines[min(lacking.count, engines.count - 1)]
    }

    /// What those lack that are better than the first that is whole.
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
