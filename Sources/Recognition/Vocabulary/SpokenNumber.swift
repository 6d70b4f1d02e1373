/// The spoken forms of English numbers, as dictionary words, most likely first.
enum SpokenNumber {
    /// The maximum number of digits. Longer numbers are spoken digit by digit.
    private static let maxDigits = 15

    private static let small = [
        "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
        "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
    ]
    private static let tens = [
        "", "ten", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety",
    ]
    private static let scales = [
        (1_000_000_000_000, "trillion"), (1_000_000_000, "billion"), (1_000_000, "million"), (1_000, "thousand"),
    ]
    private static let ordinals = [
        "one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth", "nine": "ninth",
        "twelve": "twelfth",
    ]

    /// Returns the spoken forms of an integer: as a count, in British English, as a year, and digit by digit.
    ///
    /// - Parameter isCount: whether the notation, such as `1,234`, makes a year unlikely.
    static func variants(of digits: some StringProtocol, isCount: Bool = false) -> [[String]] {
        guard let number = Int(digits), digits.count <= maxDigits else { return [digitNames(digits, zero: "zero")] }
        var variants: [[String]] = []
        if digits.first != "0" || digits.count == 1 {
            variants = [cardinal(number), cardinal(number, isBritish: true)]
            if let pairs = pairs(number) {
                let isYear = !isCount && ((1_100...1_999).contains(number) || (2_010...2_099).contains(number))
                variants.insert(pairs, at: isYear ? 0 : variants.endIndex)
            }
        }
        if digits.count > 1 { variants += [digitNames(digits, zero: "oh"), digitNames(digits, zero: "zero")] }
        if number == 0 { variants.append(["oh"]) }
        return variants.unique
    }

    /// Returns the digits' names.
    ///
    /// - Parameter zero: the name of the digit 0.
    static func digitNames(_ digits: some StringProtocol, zero: String) -> [String] {
        digits.compactMap(\.wholeNumberValue).map { $0 == 0 ? zero : small[$0] }
    }

    static func ordinalVariants(of digits: some StringProtocol) -> [[String]] {
        changingLast(variants(of: digits), ordinal)
    }

    /// Returns the spoken forms of decades or playing cards, such as `nineteen nineties` or `fives`.
    static func pluralVariants(of digits: some StringProtocol) -> [[String]] {
        changingLast(variants(of: digits), plural)
    }

    static func ordinal(_ word: String) -> String {
        ordinals[word]
            ?? (word.hasSuffix("y") ? word.dropLast() + "ieth" : word.hasSuffix("t") ? word + "h" : word + "th")
    }

    static func plural(_ word: String) -> String {
        word.hasSuffix("y") ? word.dropLast() + "ies" : word.hasSuffix("x") ? word + "es" : word + "s"
    }

    private static func changingLast(_ variants: [[String]], _ change: (String) -> String) -> [[String]] {
        variants.map { variant in variant.dropLast() + variant.suffix(1).map(change) }
    }

    static func cardinal(_ number: Int, isBritish: Bool = false) -> [String] {
        guard number > 0 else { return [small[0]] }
        var (words, rest) = ([String](), number)
        for (scale, name) in scales where rest >= scale {
            words += cardinal(rest / scale, isBritish: isBritish) + [name]
            rest %= scale
        }
        if rest >= 100 {
            words += [small[rest / 100], "hundred"]
            rest %= 100
        }
        if isBritish, rest > 0, !words.isEmpty { words.append("and") }
        return words + belowHundred(rest)
    }

    private static func belowHundred(_ number: Int) -> [String] {
        if number == 0 { return [] }
        if number < small.count { return [small[number]] }
        return [tens[number / 10]] + (number % 10 == 0 ? [] : [small[number % 10]])
    }

    /// Returns a number spoken in pairs of digits, such as `nineteen oh five`, `twenty five hundred` or `two fifty`;
    /// nil if it is not spoken like this.
    private static func pairs(_ number: Int) -> [String]? {
        guard (100...9_999).contains(number), number % 1_000 != 0 else { return nil }
        let (first, second) = (number / 100, number % 100)
        if second == 0 { return first > 9 ? belowHundred(first) + ["hundred"] : nil }
        return belowHundred(first) + (second < 10 ? ["oh"] : []) + belowHundred(second)
    }
}

extension Array where Element: Hashable {
    var unique: Self {
        var seen: Set<Element> = []
        return filter { seen.insert($0).inserted }
    }
}
