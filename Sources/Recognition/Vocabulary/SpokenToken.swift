/// Spoken forms of English text without dashes and spaces.
enum SpokenToken {
    struct Currency: Sendable {
        var one, many, cent, cents: String
    }

    static let currencies: [Character: Currency] = [
        "$": Currency(one: "dollar", many: "dollars", cent: "cent", cents: "cents"),
        "€": Currency(one: "euro", many: "euros", cent: "cent", cents: "cents"),
        "£": Currency(one: "pound", many: "pounds", cent: "penny", cents: "pence"),
    ]
    static let signs: [Character: [String]] = [
        "%": ["percent"], "&": ["and"], "+": ["plus"], "@": ["at"], "=": ["equals"], "°": ["degrees"],
    ]

    /// Returns the forms of text with a digit or sign; nil for letters, and for text that must be split.
    static func ways(_ text: Substring) -> [[String]]? {
        if text.allSatisfy({ signs[$0] != nil }) { return [text.flatMap { signs[$0] ?? [] }] }
        guard text.contains(where: { $0.isNumber || signs[$0] != nil }) else {
            return text.count == 1 ? text.first.flatMap { currencies[$0] }.map { [[$0.many], [$0.one]] } : nil
        }
        if let first = text.first, let currency = currencies[first] { return money(text.dropFirst(), currency) }
        if let sign = text.last.flatMap({ signs[$0] }) { return number(text.dropLast()).map { $0.map { $0 + sign } } }
        if let sign = text.first.flatMap({ signs[$0] }) {
            return (ways(text.dropFirst()) ?? waysOfLetters(text.dropFirst())).map { sign + $0 }
        }
        return number(text) ?? time(text) ?? fraction(text) ?? mixed(text)
    }

    /// Parses `1,234`, `3.5`, `.5`, `3rd`, `1990s`.
    private static func number(_ text: Substring) -> [[String]]? {
        let text = text.last == "." ? text.dropLast() : text
        let digits = text.prefix { $0.isASCII && $0.isNumber || $0 == "," }
        let rest = text[digits.endIndex...]
        guard let whole = joined(digits) else { return nil }
        switch rest.lowercased() {
        case "": return SpokenNumber.ways(whole, isCount: digits.contains(","))
        case "st", "nd", "rd", "th": return whole.isEmpty ? nil : SpokenNumber.ordinalWays(whole)
        case "s", "'s": return whole.isEmpty ? nil : SpokenNumber.pluralWays(whole)
        default: break
        }
        let decimals = rest.dropFirst()
        guard rest.first == ".", !decimals.isEmpty, decimals.allSatisfy({ $0.isASCII && $0.isNumber }) else {
            return nil
        }
        let fractions = [
            SpokenNumber.each(decimals, zero: "oh"), SpokenNumber.each(decimals, zero: "zero"),
        ].map { ["point"] + $0 }
        let before = whole.isEmpty ? [[]] : SpokenNumber.ways(whole)
        return SpokenForm.product(before, fractions).unique
    }

    /// Removes thousands separators; nil if commas are elsewhere.
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
        if let scale = scales[text[amount.endIndex...].lowercased()], let ways = number(amount) {
            return ways.map { $0 + [scale, currency.many] }
        }
        let sides = text.split(separator: ".", maxSplits: 1)
        guard let whole = sides.first.flatMap(number) else { return (ways(text) ?? [[]]).map { $0 + [currency.many] } }
        if sides.count == 2, sides[1].count == 2, let cents = Int(sides[1]) {
            let some = SpokenNumber.cardinal(cents)
            let coins = some + [cents == 1 ? currency.cent : currency.cents]
            let tails = cents == 0 ? [[]] : [some, coins, ["and"] + coins]
            let heads = whole.map { $0 + [$0 == ["one"] ? currency.one : currency.many] }
            let bare = cents == 0 ? [] : whole.map { $0 + some }
            return SpokenForm.product(Array(heads.prefix(4)), tails) + (whole.first == ["zero"] ? [coins] : []) + bare
        }
        let all = number(text) ?? whole
        return all.map { $0 + [$0 == ["one"] ? currency.one : currency.many] } + all.map { $0 + [currency.one] } + all
    }

    /// Parses `3:30`, `12:05:30`.
    private static func time(_ text: Substring) -> [[String]]? {
        let fields = text.split(separator: ":", omittingEmptySubsequences: false)
        guard (2...3).contains(fields.count), fields.allSatisfy({ $0.count <= 2 && Int($0) != nil }) else { return nil }
        let hour = SpokenNumber.cardinal(Int(fields[0]) ?? 0)
        var ways = [hour]
        for field in fields.dropFirst() {
            let number = Int(field) ?? 0
            let said = SpokenNumber.cardinal(number)
            let spoken = number == 0 ? [["o'clock"], [], ["hundred"]] : number < 10 ? [["oh"] + said, said] : [said]
            ways = SpokenForm.product(ways, spoken)
        }
        return ways
    }

    /// Parses `1/2`, `3/4`.
    private static func fraction(_ text: Substring) -> [[String]]? {
        let fields = text.split(separator: "/", omittingEmptySubsequences: false).map { Int($0) }
        guard fields.count == 2, let above = fields[0], let below = fields[1], (1...99).contains(above),
            (2...99).contains(below)
        else { return nil }
        let over = SpokenNumber.cardinal(below)
        var part = over.dropLast() + over.suffix(1).map { SpokenNumber.ordinal($0) }
        if below == 2 { part = ["half"] }
        if below == 4 { part = ["quarter"] }
        let many = part.dropLast() + part.suffix(1).map { $0 == "half" ? "halves" : $0 + "s" }
        let count = SpokenNumber.cardinal(above)
        var ways: [[String]] = [above == 1 ? count + part : count + many]
        if above == 1 { ways.append(["a"] + part) }
        ways.append(count + ["over"] + over)
        ways.append(count + over)
        return ways
    }

    /// Splits `MP3`, `5km`, `3:30pm`, `3.5.1` into numbers and other parts.
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
        return parts.reduce([[]]) { SpokenForm.product($0, waysOfPart($1)) }
    }

    private static func waysOfPart(_ part: Substring) -> [[String]] {
        guard part.contains(where: \.isNumber) else {
            return part.contains(where: \.isLetter) ? waysOfLetters(part) : []
        }
        if let ways = number(part) ?? time(part) { return ways }
        return part.split { !$0.isNumber }.reduce([[]]) { all, digits in
            let next = SpokenNumber.ways(digits)
            return all == [[]] ? next : SpokenForm.product(all, next.map { ["point"] + $0 } + next)
        }
    }
}
