import Glibc
import Testing
import TestKit

@testable import Core
@testable import Recognition
@testable import Settings

@Suite("The speed of the board") struct BoardSpeedTests {
    private let folder = TemporaryFolder()

    private func configuration(model: String = "en-us", vocabulary: String? = nil) -> Configuration {
        var configuration = Configuration()
        configuration.recognizer.vocabulary = vocabulary
        configuration.storage.directory = folder.path
        configuration.recognizer.model = model
        return configuration
    }

    /// A recording with 90 s of speech, decoded at a multiple of real time.
    private func keep(
        _ speed: Double, profile: DecoderProfile, speech: Double = 90, model: String = "en-us",
        vocabulary: String? = nil
    ) {
        var statistics = Statistics()
        statistics.speechSeconds = speech
        statistics.cpuSeconds = speech / speed
        BoardSpeed(configuration(model: model, vocabulary: vocabulary)).keep(statistics, profile: profile.name)
    }

    @Test("before the first measurement the profile is live, as on a fast board")
    func unknown() {
        #expect(BoardSpeed(configuration()).live == nil)
        #expect(configuration().liveProfile == "live" && configuration().plan.keepsPace == nil)
        keep(6, profile: .live)
        #expect(configuration().liveProfile == "live" && configuration().plan.keepsPace == true)
    }

    @Test("a board that is too slow for live uses fast for the next recording, until live is fast enough")
    func slow() throws {
        keep(1.2, profile: .live)
        #expect(abs(try #require(BoardSpeed(configuration()).live) - 1.2) < 1e-9)
        #expect(configuration().liveProfile == "fast")
        #expect(try configuration().workerCommand(profile: configuration().liveProfile).profile == "fast")
        // A third faster, like the profile `fast`: the board is the same.
        keep(1.6, profile: .fast)
        #expect(configuration().liveProfile == "fast")
        keep(5, profile: .fast)
        #expect(configuration().liveProfile == "live")
    }

    @Test("the speed with a vocabulary is separate, since live is then slower")
    func vocabulary() throws {
        keep(1.2, profile: .live, vocabulary: "words.txt")
        #expect(configuration(vocabulary: "words.txt").liveProfile == "fast")
        #expect(BoardSpeed(configuration()).live == nil && configuration().liveProfile == "live")
        // With a vocabulary, `fast` gains even more over `live`.
        keep(3.2, profile: .fast, vocabulary: "words.txt")
        #expect(configuration(vocabulary: "words.txt").liveProfile == "fast")
        keep(5, profile: .fast, vocabulary: "words.txt")
        #expect(configuration(vocabulary: "words.txt").liveProfile == "live")
    }

    @Test("a short recording, a second pass and another model are not measured")
    func untold() {
        keep(1.2, profile: .live, speech: 20)
        keep(1.2, profile: .final)
        keep(1.2, profile: .live, model: "turtle")
        #expect(BoardSpeed(configuration()).live == nil && configuration().liveProfile == "live")
        #expect(configuration(model: "turtle").liveProfile == "fast")
    }

    @Test("a command engine has no profiles")
    func ownProgram() {
        keep(1.2, profile: .live)
        var configuration = configuration()
        configuration.recognizer.engine = "command:/bin/cat"
        #expect(configuration.liveProfile == "live")
    }

    @Test("a damaged file is ignored", arguments: ["", "fast", "nan en-us\n", "-1 en-us\n", "2", "1 2 3"])
    func damaged(text: String) throws {
        keep(1.2, profile: .live)
        let file = try #require(fopen(folder.file("cache/decoder-speed"), "w"))
        fputs(text, file)
        fclose(file)
        #expect(BoardSpeed(configuration()).live == nil)
    }
}
