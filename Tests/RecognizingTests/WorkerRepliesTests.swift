import Testing

@testable import Core
@testable import Recognition

@Suite("Replies of decode workers") struct WorkerRepliesTests {
    private func replies(
        _ text: String, pieceSize: Int = 7, within samples: Int = 1_000
    ) throws -> [WorkerProtocol.Reply] {
        var replies = WorkerReplies()
        var result: [WorkerProtocol.Reply] = []
        let bytes = Array(text.utf8)
        for start in stride(from: 0, to: bytes.count, by: pieceSize) {
            replies.append(bytes[start..<min(start + pieceSize, bytes.count)])
            while let reply = try replies.next(within: samples) { result.append(reply) }
        }
        return result
    }

    private static let faultyReply = #"""
        {"result":{"words":[
        {"text":"b","range":{"start":200,"end":9223372036854775807},"confidence":7},
        {"text":"\n","range":{"start":0,"end":1},"confidence":1},
        {"text":"a\u001b[2Jc","range":{"start":-9223372036854775808,"end":-5},"confidence":-1}
        ],"alternatives":[{"text":"x\ny","confidence":2}],"cpuSeconds":-3}}
        """#

    @Test("are assembled from pieces of any size", arguments: [1, 7, 4_096])
    func pieceSizes(size: Int) throws {
        let parsed = try replies(
            "{\"partial\":\"hel\"}\n{\"partial\":\"hello\"}\n{\"done\":true}\n{\"par", pieceSize: size)
        #expect(parsed.map(\.partial) == ["hel", "hello", nil])
        #expect(parsed.last?.done == true)
    }

    @Test("are corrected if faulty: words are in order, on one line, and within the utterance")
    func corrections() throws {
        let line = Self.faultyReply.split(separator: "\n").joined() + "\n"
        let result = try #require(try replies(line).first?.result)
        #expect(result.words.map(\.text) == ["b", "a [2Jc"])
        #expect(result.words.map(\.range.start.samples) == [200, 1_000])
        #expect(result.words.map(\.range.end.samples) == [1_000, 1_000])
        #expect(result.words.map(\.confidence) == [1, 0])
        #expect(result.alternatives == [Alternative(text: "x y", confidence: 1)])
        #expect(result.cpuSeconds == 0)
    }

    @Test(
        "have no overlapping words: a word ends before or where the next one begins, and starts never decrease",
        arguments: [
            ([(0, 1_000), (100, 200), (150, 300)], [(0, 100), (100, 150), (150, 300)]),
            ([(500, 600), (100, 200), (700, 800)], [(500, 600), (600, 600), (700, 800)]),
            ([(0, 10), (10, 20), (30, 40)], [(0, 10), (10, 20), (30, 40)]),
        ] as [([(Int, Int)], [(Int, Int)])])
    func overlapping(reported: [(Int, Int)], expected: [(Int, Int)]) throws {
        let words = reported.map { #"{"text":"w","range":{"start":\#($0.0),"end":\#($0.1)},"confidence":1}"# }
        let line = #"{"result":{"words":[\#(words.joined(separator: ","))],"alternatives":[],"cpuSeconds":0}}"# + "\n"
        let result = try #require(try replies(line).first?.result)
        #expect(result.words.map { Int($0.range.start.samples) } == expected.map(\.0))
        #expect(result.words.map { Int($0.range.end.samples) } == expected.map(\.1))
    }

    @Test("have one voice per requested part, or no voices", arguments: [0, 1, 2, 3])
    func voices(parts: Int) throws {
        let voice = #"{"pitch":120,"jitter":0,"shimmer":0,"voicing":1}"#
        var replies = WorkerReplies()
        replies.append(
            Array(#"{"result":{"words":[],"alternatives":[],"cpuSeconds":0,"voices":[null,\#(voice)]}}"#.utf8) + [0x0A])
        let voices = try replies.next(within: 1_000, parts: parts)?.result?.voices
        #expect(voices?.map(\.?.pitch) == (parts == 2 ? [nil, 120] : nil))
    }

    @Test("may mark a word's times as an estimate")
    func estimatedTimes() throws {
        let line = #"""
            {"result":{"words":[{"text":"a","range":{"start":0,"end":5},"confidence":1,"isSpread":true},
            {"text":"b","range":{"start":5,"end":9},"confidence":1}],"alternatives":[],"cpuSeconds":0}}
            """#.split(separator: "\n").joined() + "\n"
        let result = try #require(try replies(line).first?.result)
        #expect(result.words.map(\.hasEstimatedTime) == [true, false])
    }

    @Test("are rejected if a line never ends")
    func endlessLine() {
        var replies = WorkerReplies()
        replies.append([UInt8](repeating: 0x20, count: WorkerReplies.maximumLineBytes + 1))
        #expect(throws: WorkerReplies.InvalidReply.self) { try replies.next(within: 0) }
    }

    @Test("are rejected if invalid") func invalidLine() {
        #expect(throws: WorkerReplies.InvalidReply.self) { try replies("hello\n") }
    }
}
