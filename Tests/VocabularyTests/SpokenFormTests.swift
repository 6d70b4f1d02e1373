import TestKit
import Testing

@testable import Recognition

@Suite("Spoken forms of written text") struct SpokenFormTests {
    private func variants(_ written: String) -> [String] {
        SpokenForm(of: written).variants.map { $0.joined(separator: " ") }
    }

    @Test(
        "the most likely form comes first",
        arguments: [
            ("Hello,", "hello"), ("don't", "don't"), ("don’t", "don't"), ("“Quoted.”", "quoted"), ("(so)", "so"),
            ("Mr.", "mister"), ("Mrs.", "missus"), ("Dr.", "doctor"), ("O'Brien", "o'brien"),
            ("well-known", "well known"),
            ("25", "twenty five"), ("0", "zero"), ("100", "one hundred"),
            ("1,234", "one thousand two hundred thirty four"),
            ("1000000", "one million"), ("2500000000000", "two trillion five hundred billion"),
            ("1905", "nineteen oh five"), ("1990", "nineteen ninety"), ("1900", "nineteen hundred"),
            ("2000", "two thousand"), ("2005", "two thousand five"), ("2024", "twenty twenty four"),
            ("1990s", "nineteen nineties"), ("3rd", "third"), ("21st", "twenty first"), ("20th", "twentieth"),
            ("12th", "twelfth"), ("$5", "five dollars"), ("$1", "one dollar"), ("$5.50", "five dollars fifty"),
            ("£3", "three pounds"), ("$2.5m", "two point five million dollars"), ("50%", "fifty percent"),
            ("3.14", "three point one four"), (".5", "point five"), ("3:30", "three thirty"), ("3:05", "three oh five"),
            ("3:00", "three o'clock"), ("3:30pm", "three thirty pm"), ("1/2", "one half"), ("3/4", "three quarters"),
            ("2/3", "two thirds"), ("MP3", "m. p. three"), ("BBC", "b. b. c."), ("U.S.", "u. s."),
            ("e.g.", "for example"),
            ("10-15", "ten fifteen"), ("1914-1918", "nineteen fourteen nineteen eighteen"), ("&", "and"),
            ("20°", "twenty degrees"),
        ])
    func mostLikelyForm(written: String, expected: String) { #expect(variants(written).first == expected) }

    @Test(
        "alternative forms come next, without duplicates",
        arguments: [
            ("St.", ["saint", "street", "st"]), ("1905", ["one thousand nine hundred five", "one nine oh five"]),
            ("105", ["one hundred and five", "one oh five"]), ("NATO", ["nato"]), ("café", ["cafe", "café"]),
            ("$5.50", ["five dollars and fifty cents", "five fifty"]), ("YouTube", ["youtube", "you tube"]),
            ("No.", ["number", "no"]), ("X-ray", ["x-ray"]), ("U.S.", ["u.s."]), ("'em", ["'em"]), ("boys'", ["boys"]),
        ])
    func alternativeForms(written: String, expected: [String]) {
        let variants = variants(written)
        #expect(expected.allSatisfy(variants.contains), "\(variants)")
        #expect(Set(variants).count == variants.count)
    }

    @Test(
        "punctuation alone has no spoken form", arguments: ["", "—", "-", "...", "♪", "♪♪♪", "\"", "'", ".", "🎉", " "])
    func punctuationOnly(written: String) { #expect(variants(written).isEmpty, "\(variants(written))") }

    @Test("in $5 million, the word dollars is spoken last")
    func currencyBeforeScale() {
        let forms = SpokenForm.forms(of: ["$5", "million", "dollars"])
        #expect(forms[0].variants.contains(["five"]))
        #expect(forms[1].variants.contains(["million", "dollars"]) && forms[1].variants.contains(["million"]))
        #expect(forms[2].variants == [["dollars"]])
    }

    @Test("any text has a limited number of forms, each a list of words")
    func formLimit() {
        var random = SeededGenerator()
        let characters = Array("aZ09.,:-/'$%€&+@°é日♪ \u{0}½②")
        for _ in 0..<3_000 {
            let written = String(
                (0..<Int.random(in: 0...12, using: &random)).compactMap { _ in characters.randomElement(using: &random)
                })
            let variants = SpokenForm(of: written).variants
            #expect(variants.count <= 24, "\(written)")
            #expect(
                variants.allSatisfy { !$0.isEmpty && $0.allSatisfy { !$0.isEmpty && !$0.contains(" ") } },
                "\(written): \(variants)")
        }
    }
}
