/// The spoken forms of an English text without dashes and spaces.
enum SpokenToken {
    struct Currency: Sendable {
        var singular, plural, cent, cents: String
    }

    static let currencies: [Character: Currency] = [
        "$": Currency(singular: "dollar", plural: "dollars", cent: "cent", cents: "cents"),
        "€": Currency(singular: "euro", plural: "euros", cent: "cent", cents: "cents"),
        "£": Currency(singular: "pound", plural: "pounds", cent: "penny", cents: "pence"),
    ]
    static let signs: [Character: [String]] = [
        "%": ["percent"], "&": ["and"], "+": ["plus"], "@": ["at"], "=": ["equals"], "°": ["degrees"],
    ]

    /// Returns the spoken forms of a text with a digit, sign or currency; nil for letters, and for a text that must be
    /// split.
    static func variants(of text: Substring) -> [[String]]? {
        if text.allSatisfy({ signs[$0] != nil }) { return [text.flatMap { signs[$0] ?? [] }] }
        guard text.contains(where: { $0.isNumber || signs[$0] != nil }) else {
            return text.count == 1 ? text.first.flatMap { currencies[$0] }.map { [[$0.plural], [$0.singular]] } : nil
        }
        if let first = text.first, let currency = currencies[first] { return money(text.dropFirst(), currency) }
        if let sign = text.last.flatMap({ signs[$0] }) { return number(text.dropLast()).map { $0.map { $0 + sign } } }
        if let sign = text.first.flatMap({ signs[$0] }) {
            return (variants(of: text.dropFirst()) ?? letterVariants(of: text.dropFirst())).map { sign + $0 }
        }
        return number(text) ?? time(text) ?? fraction(text) ?? mixed(text)
    }

    /// Parses numbers such as `1,234`, `3.5`, `.5`, `3rd` and `1990s`.
    private static func number(_ text: Substring) -> [[String]]? {
        let text = text.last == "." ? text.dropLast() : text
        let digits = text.prefix { $0.isASCII && $0.isNumber || $0 == "," }
        let rest = text[digits.endIndex...]
        guard let whole = joined(digits) else { return nil }
        switch rest.lowercased() {
        case "": return SpokenNumber.variants(of: whole, isCount: digits.contains(","))
        case "st", "nd", "rd", "th": return whole.isEmpty ? nil : SpokenNumber.ordinalVariants(of: whole)
        case "s", "'s": return whole.isEmpty ? nil : SpokenNumber.pluralVariants(of: whole)
        default: break
        }
        let decimals = rest.dropFirst()
        guard rest.first == ".", !decimals.isEmpty, decimals.allSatisfy({ $0.isASCII && $0.isNumber }) else {
            return nil
        }
        let fractions = [
            SpokenNumber.digitNames(decimals, zero: "oh"), SpokenNumber.digitNames(decimals, zero: "zero"),
        ].map { ["point"] + $0 }
        let before = whole.isEmpty ? [[]] : SpokenNumber.variants(of: whole)
        return SpokenForm.product(before, fractions).unique
    }

    /// Removes thousands separators; nil if there are other commas.
    private static func joined(_ digits: Substring) -> String? {
        let groups = digits.split(separator: ",", omittingEmptySubsequences: false)
        guard
            groups.count == 1 || ((1...3).contains(groups[0].count) && groups.dropFirst().allSatisfy { $0.count == 3 })
        else { return nil }
        return groups.joined()
    }

    private static func money(_ text: Substring, _ currency: Currency) -> [[String]] {
        let text = text.last == "." ? text.dropLast() : text
        let scales = ["k": "thousand", "m": "million", "b": "billion", "bn": "billion"]
        let amount = text.prefix { !$0.isLetter }
        if let scale = scales[text[amount.endIndex...].lowercased()], let variants = number(amount) {
            return variants.map { $0 + [scale, currency.plural] }
        }
        let sides = text.split(separator: ".", maxSplits: 1)
        guard let whole = sides.first.flatMap(number) else {
            return (variants(of: text) ?? [[]]).map { $0 + [currency.plural] }
        }
        if sides.count == 2, sides[1].count == 2, let cents = Int(sides[1]) {
            let centWords = SpokenNumber.cardinal(cents)
            let coins = centWords + [cents == 1 ? currency.cent : currency.cents]
            let tails = cents == 0 ? [[]] : [centWords, coins, ["and"] + coins]
            let heads = whole.map { $0 + [$0 == ["one"] ? currency.singular : currency.plural] }
            let bare = cents == 0 ? [] : whole.map { $0 + centWords }
            return SpokenForm.product(Array(heads.prefix(4)), tails) + (whole.first == ["zero"] ? [coins] : []) + bare
        }
        let amountVariants = number(text) ?? whole
        let counted = amountVariants.map { $0 + [$0 == ["one"] ? currency.singular : currency.plural] }
        return counted + amountVariants.map { $0 + [currency.singular] } + amountVariants
    }

    /// Parses times such as `3:30` and `12:05:30`.
    private static func time(_ text: Substring) -> [[String]]? {
        let fields = text.split(separator: ":", omittingEmptySubsequences: false)
        guard (2...3).contains(fields.count), fields.allSatisfy({ $0.count <= 2 && Int($0) != nil }) else { return nil }
        let hour = SpokenNumber.cardinal(Int(fields[0]) ?? 0)
        var variants = [hour]
        for field in fields.dropFirst() {
            let number = Int(field) ?? 0
            let words = SpokenNumber.cardinal(number)
            let fieldVariants =
                number == 0 ? [["o'clock"], [], ["hundred"]] : number < 10 ? [["oh"] + words, words] : [words]
            variants = SpokenForm.product(variants, fieldVariants)
        }
        return variants
    }

    /// Parses fractions such as `1/2` and `3/4`.
    private static func fraction(_ text: Substring) -> [[String]]? {
        let fields = text.split(separator: "/", omittingEmptySubsequences: false).map { Int($0) }
        guard fields.count == 2, let numerator = fields[0], let denominator = fields[1], (1...99).contains(numerator),
            (2...99).contains(denominator)
        else { return nil }
        let cardinal = SpokenNumber.cardinal(denominator)
        var part = cardinal.dropLast() + cardinal.suffix(1).map { SpokenNumber.ordinal($0) }
        if denominator == 2 { part = ["half"] }
        if denominator == 4 { part = ["quarter"] }
        let many = part.dropLast() + part.suffix(1).map { $0 == "half" ? "halves" : $0 + "s" }
        let count = SpokenNumber.cardinal(numerator)
        var variants: [[String]] = [numerator == 1 ? count + part : count + many]
        if numerator == 1 { variants.append(["a"] + part) }
        variants.append(count + ["over"] + cardinal)
        variants.append(count + cardinal)
        return variants
    }

    /// Splits texts such as `MP3`, `5km`, `3:30pm` and `3.5.1` into numbers and other parts.
    private static func mixed(_ text: Substring) -> [[String]]? {
        guard !text.contains(where: { "-/".contains($0) }) else { return nil }
        var parts: [Substring] = []
        for index in text.indices {
            let isDigits = text[index].isNumber || ".,:".contains(text[index])
            if let last = parts.last?.last, (last.isNumber || ".,:".contains(last)) == isDigits {
                parts[parts.count - 1] = text[parts[parts.count - 1].startIndex...index]
            } else {
                parts.append(text[index...index])
            }
        }
        return parts.reduce([[]]) { SpokenForm.product($0, partVariants(of: $1)) }
    }

    private static func partVariants(of part: Substring) -> [[String]] {
        guard part.contains(where: \.isNumber) else {
            return part.contains(where: \.isLetter) ? letterVariants(of: part) : []
        }
        if let variants = number(part) ?? time(part) { return variants }
        return part.split { !$0.isNumber }.reduce([[]]) { all, digits in
            let next = SpokenNumber.variants(of: digits)
            return all == [[]] ? next : SpokenForm.product(all, next.map { ["point"] + $0 } + next)
        }
    }
}
