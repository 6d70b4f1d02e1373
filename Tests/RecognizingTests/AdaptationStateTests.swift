import FoundationEssentials
import Testing

@testable import Core

@Suite("Adaptation states") struct AdaptationStateTests {
    @Test(
        "an engine's state is read back unchanged, with any content",
        arguments: [
            #"{"cepstralMean":[41.25,-5.5,1e-7],"warp":1.08}"#, #"{"speakers":[{"name":"Awa","known":true},null]}"#,
            "[]", "{}", "[[],[[0]]]",
        ])
    func roundTrip(text: String) throws {
        let state = try JSONDecoder().decode(AdaptationState.self, from: Data(text.utf8))
        #expect(try JSONDecoder().decode(AdaptationState.self, from: JSONEncoder().encode(state)) == state)
        let other = try JSONDecoder().decode(AdaptationState.self, from: Data(#"{"other":1}"#.utf8))
        #expect(state != other)
    }

    @Test("members can be read; missing members are nil")
    func members() throws {
        let text = #"{"cepstralMean":[41.25,-5.5],"warp":1.08,"mixed":[1,"a"],"none":null}"#
        let content = try JSONDecoder().decode(AdaptationState.self, from: Data(text.utf8)).content
        #expect(content["cepstralMean"]?.numbers == [41.25, -5.5] && content["warp"]?.number == 1.08)
        #expect(content["mixed"]?.numbers == nil && content["none"] == .null && content["else"] == nil)
        #expect(content["warp"]?["inner"] == nil && content["cepstralMean"]?.number == nil)
    }

    @Test("excessive nesting is rejected")
    func deepNesting() {
        let text = String(repeating: "[", count: 100) + String(repeating: "]", count: 100)
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(AdaptationState.self, from: Data(text.utf8))
        }
    }
}
