import Core
import Glibc
import System

/// How fast decode workers are on this board, stored between recordings to choose the profile.
///
/// The file may be lost at any time; then the speed is unknown until the next recording.
package struct BoardSpeed: Sendable {
    /// Shorter speech is not representative: a worker's first second of CPU loads the model.
    private static let leastSeconds = 60.0

    private let folder: String
    /// Identifies model and vocabulary, which change the speed; nil if the engine's speed is not measured.
    private let model: String?
    private let cost: EngineCost

    /// Finds the stored speed of this configuration's engine, model and vocabulary.
    package init(_ configuration: Configuration) {
        folder = configuration.cacheFolder
        let engine = configuration.engine
        cost = engine.cost(in: configuration)
        model = engine.speedName(in: configuration)
    }

    /// Seconds of speech that a worker decodes with `live` per second of CPU; nil if not measured.
    var live: Double? {
        guard let model, let bytes = try? beginning(ofFile: path, count: 4_096) else { return nil }
        let words = String(decoding: bytes, as: UTF8.self).split(
            separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
        guard words.count == 2, words[1] == "\(model)\n", let speed = Double(words[0]), speed.isFinite, speed > 0 else {
            return nil
        }
        return speed
    }

    private var path: String { "\(folder)/decoder-speed" }

    /// Stores the measured cost of a live transcription. Failures are ignored.
    package func keep(_ statistics: Statistics, profile: String) {
        guard statistics.speechSeconds >= Self.leastSeconds, statistics.cpuSeconds > 0 else { return }
        let speed = statistics.speechSeconds / statistics.cpuSeconds
        let live =
            switch profile {
            case "live": speed
            case cost.faster: speed / cost.maxFasterRatio
            default: 0.0
            }
        guard let model, live > 0 else { return }
        try? makeFolder(folder)
        try? durableReplace(path: path, with: "\(live) \(model)\n")
    }
}

extension Configuration {
    /// How this board transcribes, by its cores, its memory and its measured speed.
    var plan: DecodePlan {
        let engine = engine
        return DecodePlan(
            cores: Self.cores, memoryMegabytes: MachineMemory.totalMegabytes, liveSpeed: BoardSpeed(self).live,
            sharesModel: engine.makesCopies, cost: engine.cost(in: self))
    }

    package static var cores: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }

    /// The profile that keeps up with speech on this board.
    package var liveProfile: String {
        let name = plan.profile
        // An engine with one profile always gets the same name, so that its passes are equal.
        return engine.profiles.contains(name) ? name : "live"
    }

    /// The number of decode workers: as configured, else one per core as far as memory allows.
    package var workerCount: Int { recognizer.workers == 0 ? plan.workers : recognizer.workers }
}
