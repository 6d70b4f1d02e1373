import Testing
import TestKit

@Suite("Word error rate") struct WordErrorRateTests {
    @Test(
        "a transcript and its reference are compared in spoken form",
        arguments: [
            ("Mr. Hale, I mean!", "mister hale i mean"),
            ("10 steps, 4 dogs; 12 cats", "ten steps four dogs 12 cats"),
            ("OK, it’s alright.", "okay it's all right"),
            ("today grey-haired, gonna", "to day gray haired going to"),
            ("[noise] hello(2) <sil> um", "hello"), ("'quoted' i.e. dogs'", "quoted that is dogs"),
            ("St. John’s Dr. Mrs.", "saint john's doctor missus"),
        ])
    func normalized(written: String, spoken: String) {
        #expect(WordErrorRate.normalized(written).joined(separator: " ") == spoken)
        #expect(WordErrorRate(reference: spoken, hypothesis: written).errors == 0)
    }

    @Test("each inserted, missing or changed word is one error")
    func errors() {
        let rate = WordErrorRate(reference: "one two three four", hypothesis: "One too, three four. Five")
        #expect(rate.errors == 2)
        #expect(rate.percent == 50)
    }
}
