import FoundationEssentials

@testable import Copying
@testable import Core
@testable import Office
@testable import Transcripts

/// The files of a gathered copy: a tar in pieces, a transcript, a page, or corrections, chosen by the first byte.
@_cdecl("LLVMFuzzerTestOneInput") public func fuzz(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: data, count: size))
    guard let kind = bytes.first else { return 0 }
    let content = Array(bytes.dropFirst())
    switch kind % 4 {
    case 0: readTar(content, pieces: 1 + Int(kind / 4))
    case 1:
        if let bytes = try? JSONStrings.check(content) {
            let expected = try? JSONDecoder().decode(TranscriptDocument.self, from: Data(bytes))
            precondition((try? TranscriptDocument(bytes)) == expected)
        }
        guard let timeline = try? TranscriptReading(content, name: "f").timeline else { return 0 }
        var end = SamplePosition.zero
        for segment in timeline.segments {
            precondition(segment.id > 0 && end <= segment.range.start)
            end = segment.range.end
        }
        for format in TranscriptFormat.allCases { _ = try? format.render(timeline) }
    case 2: _ = try? PageReading(content, name: "f")
    default: _ = try? IncomingFile(content, as: .corrections, name: "f")
    }
    return 0
}

/// Checks that a file's bytes are between its beginning and its end, and that no name leads outside.
private func readTar(_ content: [UInt8], pieces: Int) {
    var tar = TarReading()
    var isOpen = false
    for start in stride(from: 0, to: content.count, by: pieces) {
        let piece = Array(content[start..<min(content.count, start + pieces)])
        let isRead: Void? = try? piece.withUnsafeBytes { piece in
            try tar.take(piece) { event throws(DeviceError) in
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
        if isRead == nil { return }
    }
}
