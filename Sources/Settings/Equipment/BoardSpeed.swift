import Core
import Glibc
import System

/// The speed of decode workers on this board, which is stored to choose the profile for later recordings.
///
/// If the file is lost, the speed is unknown until the next recording.
package struct BoardSpeed: Sendable {
    /// Less speech is not representative, because a worker spends its first second of CPU time on loading the model.
    private static let minimumSeconds = 60.0

    private let folder: String
    /// The name of the model and vocabulary, which affect the speed; nil if the engine's speed is not measured.
    private let model: String?
    private let cost: EngineCost

    /// Finds the stored speed for this configuration's engine, model and vocabulary.
    package init(_ configuration: Configuration) {
        folder = configuration.cacheFolder
        let engine = configuration.engine
        cost = engine.cost(in: configuration)
        model = engine.speedName(in: configuration)
    }

    /// The seconds of speech that a worker decodes with `live` per second of CPU time; nil if not measured.
    var live: Double? {
        guard let model, let bytes = try? beginning(ofFile: path, count: 4_096) else { return nil }
        let fields = String(decoding: bytes, as: UTF8.self).split(
            separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
        guard fields.count == 2, fields[1] == "\(model)\n", let speed = Double(fields[0]), speed.isFinite, speed > 0
        else { return nil }
        return speed
    }

    private var path: String { "\(folder)/decoder-speed" }

    /// Stores the speed of a live transcription, converted to that of `live`. Ignores failures.
    package func store(_ statistics: Statistics, profile: String) {
        guard statistics.speechSeconds >= Self.minimumSeconds, statistics.cpuSeconds > 0 else { return }
        let speed = statistics.speechSeconds / statistics.cpuSeconds
        let live =
            switch profile {
            case "live": speed
            case cost.fasterProfile: speed / cost.maxFasterRatio
            default: 0.0
            }
        guard let model, live > 0 else { return }
        try? makeFolder(folder)
        try? durableReplace(path: path, with: "\(live) \(model)\n")
    }
}

extension Configuration {
    /// The plan for this board, according to its cores, memory and measured speed.
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
        // For an engine with only one profile, the name is always the same, so that its passes are equivalent.
        return engine.profiles.contains(name) ? name : "live"
    }

    /// The number of decode workers: as configured or, by default, one per core as far as memory allows.
    package var workerCount: Int { recognizer.workers == 0 ? plan.workers : recognizer.workers }
}
