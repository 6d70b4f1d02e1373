import Core

/// The maximum content for a recording's length. Larger files are rejected before they cost time.
package struct RecordingCapacity: Hashable, Sendable {
    /// Nobody speaks more than five per second.
    let words: Int
    /// Notes, bookmarks or quotations.
    let items: Int
    /// The longest word, in bytes.
    private static let longestWord = 4_096

    /// - Parameter length: The recording's length.
    package init(_ length: SamplePosition) {
        let seconds = Int(max(0, length.seconds))
        words = 1_000 + 10 * seconds
        items = 1_000 + 2 * seconds
    }

    /// Returns the largest file in bytes.
    ///
    /// - Parameter ending: One of `WrittenText.endings`, in either case.
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

    /// Returns why a file of this size is too large; nil if it is not.
    package func excess(bytes: Int, ending: String) -> String? {
        let most = self.bytes(ending: ending)
        return bytes > most ? "has \(bytes) bytes, more than a text of this recording can have (\(most))" : nil
    }

    /// Returns why a text is too large; nil if it is not.
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

    /// Returns why corrections are too large; nil if they are not.
    package func excess(of file: CorrectionsFile) -> String? {
        let count = file.edits.reduce(0) { $0 + $1.words.count }
        if count > words { return excess("words", count, words) }
        let added = [
            ("notes", file.annotations.notes.count), ("bookmarks", file.annotations.marks?.count ?? 0),
            ("quotations", file.annotations.quotations.count), ("turns", file.annotations.turns?.all.count ?? 0),
        ]
        for (name, count) in added where count > items { return excess(name, count, items) }
        return nil
    }

    private func excess(_ name: String, _ count: Int, _ most: Int) -> String {
        "has \(count) \(name), more than this recording can hold (\(most))"
    }
}
