import FoundationEssentials

@testable import Copying
@testable import Core
@testable import Office
@testable import Transcripts

/// Fuzzes the files of a gathered copy. The first byte chooses the parser: a tar in chunks, a transcript, a page, or
/// corrections.
@_cdecl("LLVMFuzzerTestOneInput") public func fuzz(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: data, count: size))
    guard let kind = bytes.first else { return 0 }
    let content = Array(bytes.dropFirst())
    switch kind % 4 {
    case 0: parseTar(content, chunkSize: 1 + Int(kind / 4))
    case 1:
        if let bytes = try? JSONStrings.check(content) {
            let expected = try? JSONDecoder().decode(TranscriptDocument.self, from: Data(bytes))
            precondition((try? TranscriptDocument(bytes)) == expected)
        }
        guard let timeline = try? ParsedTranscript(content, name: "f").timeline else { return 0 }
        var end = SamplePosition.zero
        for segment in timeline.segments {
            precondition(segment.id > 0 && end <= segment.range.start)
            end = segment.range.end
        }
        for format in TranscriptFormat.allCases { _ = try? format.render(timeline) }
    case 2: _ = try? ParsedPage(content, name: "f")
    default: _ = try? IncomingFile(content, as: .corrections, name: "f")
    }
    return 0
}

/// Parses a tar in chunks. Checks that a file's bytes come between its start and end events, and that each name is a
/// file name without a path.
private func parseTar(_ content: [UInt8], chunkSize: Int) {
    var tar = TarParser()
    var isOpen = false
    for start in stride(from: 0, to: content.count, by: chunkSize) {
        let chunk = Array(content[start..<min(content.count, start + chunkSize)])
        let result: Void? = try? chunk.withUnsafeBytes { chunk in
            try tar.parse(chunk) { event throws(DeviceError) in
                switch event {
                case .file(let name, _):
                    precondition(!isOpen && !name.contains("/") && !name.isEmpty && name != "..")
                    isOpen = true
                case .bytes: precondition(isOpen)
                case .end:
                    precondition(isOpen)
                    isOpen = false
                }
            }
        }
        if result == nil { return }
    }
}
