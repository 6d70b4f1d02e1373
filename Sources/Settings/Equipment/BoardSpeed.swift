import Core
import Glibc
import Recognition
import System

/// How fast decode workers were on this board, kept from one recording to the next: the profile is chosen by it.
///
/// It can be lost at any time; until the next recording has measured it anew, nothing is claimed.
package struct BoardSpeed: Sendable {
    /// Less speech tells too little: a worker's first second of CPU is spent on the model.
    private static let leastSeconds = 60.0

    private let folder: String
    /// Another model is another speed, and so is a vocabulary beside it; nil for an engine whose speed is not measured.
    private let model: String?
    private let cost: EngineCost

    /// Finds where the measured speed of this configuration's engine, model and vocabulary is kept.
    package init(_ configuration: Configuration) {
        folder = configuration.cacheFolder
        let engine = configuration.engine
        cost = engine.cost(in: configuration)
        model = engine.speedName(in: configuration)
    }

    /// Seconds of speech that a worker decodes with `live` in a second of CPU; nil where that was not measured.
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

    /// Takes what a transcription in real time has cost. That it cannot be kept harms nobody.
    package func keep(_ statistics: Statistics, profile: String) {
        guard statistics.speechSeconds >= Self.leastSeconds, statistics.cpuSeconds > 0 else { return }
        let speed = statistics.speechSeconds / statistics.cpuSeconds
        let live =
            switch profile {
            case "live": speed
            case cost.faster: speed / cost.mostFasterRatio
            default: 0.0
            }
        guard let model, live > 0 else { return }
        try? makeFolder(folder)
        try? durableReplace(path: path, with: "\(live) \(model)\n")
    }
}

extension Configuration {
    /// How this board transcribes, by its cores, its memory, and what was measured of its speed.
    var plan: DecodePlan {
        let engine = engine
        return DecodePlan(
            for: DecodePlan.Board(
                cores: Self.cores, memoryMegabytes: Self.memoryMegabytes,
                liveSpeed: BoardSpeed(self).live, sharesModel: engine.makesCopies, cost: engine.cost(in: self)))
    }

    /// Processors that are on line.
    static var cores: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }

    /// All memory of this board.
    static var memoryMegabytes: Int {
        sysconf(Int32(_SC_PHYS_PAGES)) / 1_024 * sysconf(Int32(_SC_PAGESIZE)) / 1_024
    }

    /// The profile that keeps pace with speech on this board.
    package var liveProfile: String {
        let name = plan.profile
        // One that has a single way of reading is told the same name always, so that its passes are not told apart.
        return engine.profiles.contains(name) ? name : "live"
    }

    /// How many decode workers: as configured, else one a core as far as the board's memory goes.
    package var workerCount: Int { recognizer.workers == 0 ? plan.workers : recognizer.workers }
}
