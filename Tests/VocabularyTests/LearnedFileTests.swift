import Testing

@testable import Recognition

@Suite("learned.txt") struct LearnedFileTests {
    private func found(
        _ text: String, _ times: Int = 1, in recordings: [Int] = [4], isNew: Bool = true
    ) -> LearnedFile.Found {
        LearnedFile.Found(
            key: text.lowercased(), text: text, times: times, recordings: recordings, isNew: isNew)
    }

    private func made(_ all: LearnedFile.Found..., proposing: Bool = false) -> LearnedFile {
        var file = LearnedFile("")
        _ = file.add(all, proposing: proposing)
        file.see([4: 2])
        return file
    }

    private func used(_ file: LearnedFile, most: Int = 200) -> [String] {
        VocabularyFile(file.inUse(most: most)).phrases.map { $0.words.joined(separator: " ") }
    }

    @Test("it is a vocabulary with counts and recordings, and is read back unchanged")
    func written() {
        let file = made(found("Awa Ouedraogo", 3, in: [4, 7]), found("Koudougou"))
        #expect(file.text.contains("\nAwa Ouedraogo  # 3 times, in 4 7\nKoudougou  # 1 time, in 4\n"), "\(file.text)")
        #expect(file.problems.isEmpty && used(file) == ["Awa Ouedraogo", "Koudougou"])
        let again = LearnedFile(file.text)
        #expect(again.text == file.text && again.seen == [4: 2])
        #expect(again.entries(most: 1).map(\.state) == [.used, .beyond])
    }

    @Test("forgetting a recording removes the lines that only it has, even edited ones")
    func forgotten() {
        var file = made(found("Awa", 3, in: [4, 7]), found("Bintou"), found("Fonio"), found("Kadiu"))
        file = LearnedFile(
            file.text.replacing("Bintou", with: "# Bintou").replacing("Fonio ", with: "Fonio * 2 = F OW ") + "Mine\n")
        #expect(file.forget(4, keeping: ["kadiu"]) == 2)
        #expect(file.text.hasSuffix("\nAwa  # 2 times, in 7\nKadiu  # 1 time, in 4\nMine\n"), "\(file.text)")
        #expect(file.forget(9, keeping: []) == 0 && file.seen == [4: 2])
    }

    @Test("proposals are unused until they are accepted, and accepting one changes no other line")
    func proposals() {
        var file = made(found("Awa"), found("Bintou"), proposing: true)
        #expect(file.text.contains("\n#? Awa  # 1 time, in 4\n") && used(file).isEmpty)
        #expect(file.entries(most: 9).map(\.state) == [.proposed, .proposed])
        #expect(file.accept(["bintou", "nobody"]) == ["bintou"] && used(file) == ["Bintou"])
        file = LearnedFile(file.text.replacing("#? Awa", with: "# Awa"))
        #expect(file.accept(nil).isEmpty && used(file) == ["Bintou"])
        #expect(file.entries(most: 9).map(\.state) == [.used, .off])
        #expect(file.accept(["awa"]) == ["awa"] && used(file) == ["Awa", "Bintou"])
    }

    @Test("lines that a person changed, removed or added stay that way")
    func edited() {
        var file = LearnedFile(
            """
            # mine, and not a word of it may be removed
            Awa * 20 = AA W AA  # 1 time, in 4
            # Bintou  # 1 time, in 4
            Kadi # my aunt
            <x> = a | b
            zorp(2)
            """)
        let all = [found("Awa", 2, in: [7]), found("Bintou", 5), found("Kadi", 9), found("Ouma")]
        #expect(file.add(all, proposing: false) == ["Ouma"])
        #expect(
            file.text == """
                # mine, and not a word of it may be removed
                Awa * 20 = AA W AA  # 2 times, in 4 7
                # Bintou  # 5 times, in 4
                Kadi # my aunt
                <x> = a | b
                zorp(2)
                Ouma  # 1 time, in 4

                """)
        #expect(file.problems.map(\.line) == [6] && file.problems[0].reason.contains("cannot be part of a word"))
        #expect(VocabularyFile(file.inUse(most: 200)).problems.isEmpty)
    }

    @Test("a deleted line returns only for a new correction")
    func deleted() {
        var file = LearnedFile(made(found("Awa"), found("Bintou")).text.replacing("Awa  # 1 time, in 4\n", with: ""))
        #expect(file.add([found("Awa", isNew: false)], proposing: false).isEmpty && used(file) == ["Bintou"])
        #expect(file.add([found("Awa", 2, in: [4, 7])], proposing: false) == ["Awa"])
    }

    @Test("the recordings learned from are kept in readable rows, even after manual changes")
    func seen() {
        var file = made(found("Awa"))
        file.see(Dictionary(uniqueKeysWithValues: (1...40).map { ($0, 3) }))
        let again = LearnedFile(file.text)
        #expect(again.seen.count == 40 && again.seen[4] == 3 && again.text == file.text)
        #expect(again.text.split(separator: "\n").allSatisfy { $0.count < 200 })
        #expect(LearnedFile("# learned from 4:x :: 7: 99999999999999999999:1 8:2\n").seen == [8: 2])
        var empty = LearnedFile("")
        empty.see([4: 2])
        #expect(empty.text.isEmpty, "no file without words")
    }

    @Test("if there are too many lines, a person's own are used first, then the most often corrected")
    func limit() {
        let file = LearnedFile("Awa  # 1 time, in 4\nBintou  # 3 times, in 4\nKadi\n#? Ouma  # 9 times, in 4\n")
        #expect(used(file, most: 1) == ["Kadi"] && used(file, most: 2) == ["Bintou", "Kadi"])
        #expect(VocabularyFile(file.inUse(most: 2)).phrases.map(\.line) == [2, 3])
    }

    @Test("an invalid line is reported, and does not replace another line")
    func wrong() {
        let file = LearnedFile("zor(2)\nAwa\n")
        #expect(used(file, most: 1) == ["Awa"] && file.problems.map(\.line) == [1])
        #expect(file.entries(most: 9).map(\.phrase) == ["Awa"])
    }

    @Test("only valid vocabulary is added, and the file is limited")
    func hostile() {
        var file = LearnedFile("")
        let bad = ["a # b", "a = b", "<x>", "a * 2", "zo\nrp", "", "# 3 times, in 4"].map { found($0) }
        #expect(file.add(bad, proposing: false).isEmpty && file.text.isEmpty)
        let letters = (0..<3_000).map { index in
            "word" + String("\(index)".unicodeScalars.compactMap { Unicode.Scalar($0.value + 49) }.map(Character.init))
        }
        _ = file.add(letters.map { found($0, in: Array(1...500)) }, proposing: false)
        #expect(file.entries(most: 200).count <= 1_000 && file.text.utf8.count < 1 << 18)
        #expect(VocabularyFile(file.inUse(most: 200)).phrases.count == 200)
        let crlf = LearnedFile("Awa  # 1 time, in 4\r\n#?\r\n")
        #expect(crlf.text == "Awa  # 1 time, in 4\r\n#?\r\n")
    }
}
