import Core

/// The maximum content that a recording's length allows. Larger files are rejected before they take time to process.
package struct RecordingCapacity: Hashable, Sendable {
    /// Ten per second: nobody speaks more than five.
    let maxWords: Int
    /// Applies to notes, bookmarks, quotations and turns separately.
    let maxItems: Int
    private static let maxWordBytes = 4_096

    /// - Parameter length: The recording's length.
    package init(_ length: SamplePosition) {
        let seconds = Int(max(0, length.seconds))
        maxWords = 1_000 + 10 * seconds
        maxItems = 1_000 + 2 * seconds
    }

    /// Returns the maximum file size in bytes.
    ///
    /// - Parameter fileExtension: One of `EditedTranscript.fileExtensions`, in upper or lower case.
    func bytes(fileExtension: String) -> Int {
        let perWord =
            switch fileExtension.lowercased() {
            case "txt": 64
            case "srt", "vtt": 128
            case "csv", "textgrid": 512
            default: 1_024
            }
        return 65_536 + maxWords * perWord
    }

    /// Returns why a file of this size is too large; nil if it is not too large.
    package func excess(bytes: Int, fileExtension: String) -> String? {
        let limit = self.bytes(fileExtension: fileExtension)
        return bytes > limit
            ? "has \(bytes) bytes, more than a transcript of this recording can have (\(limit))" : nil
    }

    /// Returns why a transcript is too large; nil if it is not too large.
    package func excess(of transcript: EditedTranscript) -> String? {
        for tier in transcript.tiers {
            var count = 0
            for entry in tier {
                var length = 0
                for byte in entry.text.utf8 {
                    if byte > 0x20 {
                        if length == 0 { count += 1 }
                        length += 1
                        if length > Self.maxWordBytes { return "has a word of more than \(Self.maxWordBytes) bytes" }
                    } else {
                        length = 0
                    }
                }
            }
            if count > maxWords { return excess("words", count, maxWords) }
        }
        return nil
    }

    /// Returns why corrections are too large; nil if they are not too large.
    package func excess(of file: CorrectionsFile) -> String? {
        let count = file.edits.reduce(0) { $0 + $1.words.count }
        if count > maxWords { return excess("words", count, maxWords) }
        let additions = [
            ("notes", file.annotations.notes.count), ("bookmarks", file.annotations.marks?.count ?? 0),
            ("quotations", file.annotations.quotations.count), ("turns", file.annotations.turns?.all.count ?? 0),
        ]
        for (name, count) in additions where count > maxItems { return excess(name, count, maxItems) }
        return nil
    }

    private func excess(_ name: String, _ count: Int, _ limit: Int) -> String {
        "has \(count) \(name), more than this recording can have (\(limit))"
    }
}
