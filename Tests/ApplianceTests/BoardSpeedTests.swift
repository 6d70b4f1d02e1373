import Glibc
import Testing
import TestKit

@testable import Core
@testable import Recognition
@testable import Settings

@Suite("Board speed") struct BoardSpeedTests {
    private let folder = TemporaryFolder()

    private func configuration(model: String = "en-us", vocabulary: String? = nil) -> Configuration {
        var configuration = Configuration()
        configuration.recognizer.vocabulary = vocabulary
        configuration.storage.directory = folder.path
        configuration.recognizer.model = model
        return configuration
    }

    /// Stores the speed of a recording whose speech was decoded at a multiple of real time.
    private func store(
        _ speed: Double, profile: DecoderProfile, speech: Double = 90, model: String = "en-us",
        vocabulary: String? = nil
    ) {
        var statistics = Statistics()
        statistics.speechSeconds = speech
        statistics.cpuSeconds = speech / speed
        BoardSpeed(configuration(model: model, vocabulary: vocabulary)).store(statistics, profile: profile.name)
    }

    @Test("the profile is live before the first measurement and on a fast board")
    func unknownSpeed() {
        #expect(BoardSpeed(configuration()).live == nil)
        #expect(configuration().liveProfile == "live" && configuration().plan.keepsPace == nil)
        store(6, profile: .live)
        #expect(configuration().liveProfile == "live" && configuration().plan.keepsPace == true)
    }

    @Test("a board that is too slow for live uses fast for the next recording, until it is fast enough for live")
    func slowBoard() throws {
        store(1.2, profile: .live)
        #expect(abs(try #require(BoardSpeed(configuration()).live) - 1.2) < 1e-9)
        #expect(configuration().liveProfile == "fast")
        #expect(try configuration().workerCommand(profile: configuration().liveProfile).profile == "fast")
        // The profile `fast` is a third faster, so the board's speed has not changed.
        store(1.6, profile: .fast)
        #expect(configuration().liveProfile == "fast")
        store(5, profile: .fast)
        #expect(configuration().liveProfile == "live")
    }

    @Test("the speed with a vocabulary is stored separately, because a vocabulary slows down live")
    func vocabulary() throws {
        store(1.2, profile: .live, vocabulary: "words.txt")
        #expect(configuration(vocabulary: "words.txt").liveProfile == "fast")
        #expect(BoardSpeed(configuration()).live == nil && configuration().liveProfile == "live")
        // With a vocabulary, `fast` is even faster compared with `live`.
        store(3.2, profile: .fast, vocabulary: "words.txt")
        #expect(configuration(vocabulary: "words.txt").liveProfile == "fast")
        store(5, profile: .fast, vocabulary: "words.txt")
        #expect(configuration(vocabulary: "words.txt").liveProfile == "live")
    }

    @Test("short recordings, second passes and other models do not count")
    func ignoredMeasurements() {
        store(1.2, profile: .live, speech: 20)
        store(1.2, profile: .final)
        store(1.2, profile: .live, model: "turtle")
        #expect(BoardSpeed(configuration()).live == nil && configuration().liveProfile == "live")
        #expect(configuration(model: "turtle").liveProfile == "fast")
    }

    @Test("a command engine always uses the profile live")
    func commandEngine() {
        store(1.2, profile: .live)
        var configuration = configuration()
        configuration.recognizer.engine = "command:/bin/cat"
        #expect(configuration.liveProfile == "live")
    }

    @Test("a damaged file is ignored", arguments: ["", "fast", "nan en-us\n", "-1 en-us\n", "2", "1 2 3"])
    func damagedFile(text: String) throws {
        store(1.2, profile: .live)
        let file = try #require(fopen(folder.file("cache/decoder-speed"), "w"))
        fputs(text, file)
        fclose(file)
        #expect(BoardSpeed(configuration()).live == nil)
    }
}
