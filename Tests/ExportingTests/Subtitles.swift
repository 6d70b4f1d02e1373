import FoundationEssentials
import Glibc
import Testing

/// Subtitles, parsed as players parse them.
struct Subtitles {
    struct Cue: Equatable {
        var start: Int
        var end: Int
        var lines: [String]
    }

    var cues: [Cue] = []

    /// Parses srt or vtt. Blocks are separated by blank lines; a block with a line of times is a cue.
    init(_ text: String) throws {
        for block in text.split(separator: "\n\n") {
            let lines = block.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            guard let index = lines.firstIndex(where: { $0.contains("-->") }) else { continue }
            let times = lines[index].split(separator: " --> ")
            try #require(times.count == 2)
            cues.append(
                Cue(
                    start: try Self.milliseconds(times[0]), end: try Self.milliseconds(times[1]),
                    lines: lines.dropFirst(index + 1).filter { !$0.isEmpty }))
        }
    }

    private static func milliseconds(_ timecode: Substring) throws -> Int {
        let fields = timecode.split { ":,.".contains($0) }
        try #require(fields.dropFirst().map(\.count) == [2, 2, 3] && fields[0].count >= 2)
        let numbers = try fields.map { try #require(Int($0)) }
        return ((numbers[0] * 60 + numbers[1]) * 60 + numbers[2]) * 1_000 + numbers[3]
    }

    /// Returns the subtitles after ffmpeg has converted a file with this content to srt.
    static func throughFFmpeg(_ text: String, format: String) throws -> Subtitles {
        let file = FileManager.default.temporaryDirectory.appending(path: "fieldscribe-\(UUID().uuidString).\(format)")
        try Data(text.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let format = format == "vtt" ? "webvtt" : format
        let command = "ffmpeg -nostdin -v error -f \(format) -i '\(file.path)' -f srt - 2>&1"
        let pipe = try #require(popen(command, "r"))
        var output: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let count = fread(&buffer, 1, buffer.count, pipe), count > 0 { output += buffer[..<count] }
        let printed = String(decoding: output, as: UTF8.self)
        try #require(pclose(pipe) == 0, "ffmpeg (package ffmpeg) must be installed: \(printed)")
        return try Subtitles(printed)
    }
}
