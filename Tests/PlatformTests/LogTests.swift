import Glibc
import Testing

@testable import System

@Suite("The log") struct LogTests {
    @Test(
        "a line has a priority for journald, an event, and escaped values",
        arguments: [
            ([("code", "missing")], "<3>fault code=missing\n"),
            ([("message", "no such card; plug it in")], "<3>fault message=\"no such card; plug it in\"\n"),
            ([("message", "a \"b\" \\ c")], "<3>fault message=\"a \\\"b\\\" \\\\ c\"\n"),
            ([("message", "one\n<0>two")], "<3>fault message=\"one\\n<0>two\"\n"),
            ([("message", "\u{1B}[31m\u{7F}")], "<3>fault message=\" [31m \"\n"),
            ([("message", "")], "<3>fault message=\"\"\n"),
            ([("a", "b=c")], "<3>fault a=\"b=c\"\n"),
        ])
    func line(_ values: [(String, String)], _ expected: String) {
        #expect(Log.line(.error, "fault", values, marksPriority: true) == expected)
    }

    @Test("on a terminal, lines have no priority")
    func terminal() {
        #expect(Log.line(.information, "ready", [("a", "b"), ("c", "d")], marksPriority: false) == "ready a=b c=d\n")
    }

    @Test("by default, every component logs at info and above", arguments: [nil, "", ",", "info"])
    func defaults(_ text: String?) {
        let filter = LogFilter(text)
        #expect(filter.problem == nil)
        for component in LogComponent.allCases {
            #expect(
                filter.includes(.error, component) && filter.includes(.information, component)
                    && !filter.includes(.debug, component))
        }
    }

    @Test("a level applies to every component that has no level of its own")
    func components() {
        let filter = LogFilter("debug, recording = warning,control=error,control=notice")
        #expect(filter.problem == nil)
        #expect(filter.includes(.debug, .decoder) && filter.includes(.debug, .recognizing))
        #expect(filter.includes(.warning, .recording) && !filter.includes(.notice, .recording))
        #expect(filter.includes(.notice, .control) && !filter.includes(.information, .control))
        #expect(LogFilter("recording=debug").includes(.debug, .recording))
        #expect(!LogFilter("recording=debug").includes(.debug, .decoder))
    }

    @Test(
        "an invalid entry is reported with the valid levels, and other entries apply",
        arguments: ["loud", "cellar=debug", "recording=", "=debug", "recording=debug=info", "\u{1F4A9}"])
    func invalidEntries(_ entry: String) {
        let filter = LogFilter("decoder=debug,\(entry)")
        #expect(
            filter.problem?.hasPrefix("FIELDSCRIBE_LOG: \"\(entry)\" is not valid; give LEVEL or COMPONENT=LEVEL")
                == true)
        #expect(filter.problem?.contains("error, warning, notice, info, debug") == true)
        #expect(filter.includes(.debug, .decoder) && !filter.includes(.debug, .recording))
    }
}

@Suite("A log without a reader") struct UnreadLogTests {
    @Test("a full pipe or socket loses lines but does not block", arguments: [false, true])
    func full(isSocket: Bool) throws {
        var ends: [Int32] = [0, 0]
        let status = isSocket ? socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) : pipe(&ends)
        try #require(status == 0)
        let (reader, writer) = (ends[0], ends[1])
        defer { for end in [reader, writer] { close(end) } }
        let line = [UInt8](repeating: 0x61, count: 10_000)
        func accepts() -> Bool { line.withUnsafeBytes { FileDescriptor.writeAvailable($0, to: writer) } }
        #expect(accepts())
        for _ in 0..<1_000 where accepts() {}
        #expect(!accepts())
    }
}
