import Core

/// What a recording can hold at most, by its length: what is more is no text of it, and is refused before it costs anything. Pure.
package struct RecordingCapacity: Hashable, Sendable {
    /// So many words: nobody says more than five a second.
    let words: Int
    /// So many notes, bookmarks or quotations.
    let items: Int

    /// The longest word, in bytes.
    private static let longestWord = 4_096

    /// - Parameter length: the recording's.
    package init(_ length: SamplePosition) {
        let seconds = Int(max(0, length.seconds))
        words = 1_000 + 10 * seconds
        items = 1_000 + 2 * seconds
    }

    /// How long a file can be, in bytes.
    ///
    /// - Parameter ending: as `WrittenText.endings` has it, in either case.
    func bytes(ending: String) -> Int {
        let perWord =
            switch ending.lowercased() {
            case "txt": 64
            case "srt", "vtt": 128
            case "csv", "textgrid": 512
            default: 1_024
            }
        return 65_536 + words * perWord
    }

    /// Why a file of that size is none of the recording's; nil where it may be.
    package func excess(bytes: Int, ending: String) -> String? {
        let most = self.bytes(ending: ending)
        return bytes > most ? "has \(bytes) bytes, more than a text of this recording can have (\(most))" : nil
    }

    /// The same of what was read.
    package func excess(of written: WrittenText) -> String? {
        for reading in written.readings {
            var count = 0
            for piece in reading {
                var length = 0
                for byte in piece.text.utf8 {
                    if byte > 0x20 {
                        if length == 0 { count += 1 }
                        length += 1
                        if length > Self.longestWord { return "has a word of more than \(Self.longestWord) bytes" }
                    } else {
                        length = 0
                    }
                }
            }
            if count > words { return excess("words", count, words) }
        }
        return nil
    }

    /// The same of what a page has saved.
    package func excess(of file: CorrectionsFile) -> String? {
        let count = file.edits.reduce(0) { $0 + $1.words.count }
        if count > words { return excess("words", count, words) }
        let added = [
            ("notes", file.annotations.notes.count), ("bookmarks", file.annotations.marks?.count ?? 0),
            ("quotations", file.annotations.quotations.count),
        ]
        for (name, count) in added where count > items { return excess(name, count, items) }
        return nil
    }

    private func excess(_ name: String, _ count: Int, _ most: Int) -> String {
        "has \(count) \(name), more than this recording can hold (\(most))"
    }
}
