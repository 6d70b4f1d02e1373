/// The spoken forms of letters: spelled-out words, abbreviations, and spellings that dictionaries lack.
extension SpokenToken {
    private static let abbreviations: [String: [[String]]] = [
        "mr": [["mister"]], "mrs": [["missus"]], "ms": [["miss"]], "dr": [["doctor"], ["drive"]],
        "st": [["saint"], ["street"]], "prof": [["professor"]], "jr": [["junior"]], "sr": [["senior"]],
        "vs": [["versus"]], "etc": [["et", "cetera"]], "gen": [["general"]], "col": [["colonel"]],
        "capt": [["captain"]], "sgt": [["sergeant"]], "lt": [["lieutenant"]], "rev": [["reverend"]],
        "hon": [["honorable"]], "mt": [["mount"]], "ft": [["feet"], ["fort"], ["foot"]], "ave": [["avenue"]],
        "blvd": [["boulevard"]], "rd": [["road"]], "no.": [["number"]], "nos.": [["numbers"]],
        "inc": [["incorporated"]], "corp": [["corporation"]], "ltd": [["limited"]], "dept": [["department"]],
        "approx": [["approximately"]], "km": [["kilometers"], ["kilometer"]], "kg": [["kilograms"], ["kilos"]],
        "cm": [["centimeters"]], "mm": [["millimeters"]], "mph": [["miles", "an", "hour"], ["miles", "per", "hour"]],
        "lb": [["pounds"], ["pound"]], "lbs": [["pounds"]], "oz": [["ounces"], ["ounce"]],
        "hr": [["hour"], ["hours"]], "hrs": [["hours"]], "min": [["minutes"], ["minute"]],
        "i.e": [["that", "is"]], "e.g": [["for", "example"]],
    ]

    /// Returns the spoken forms of a text without digits or dashes.
    static func letterVariants(of text: Substring) -> [[String]] {
        let bare = text.last == "." ? text.dropLast() : text
        let lowercased = text.lowercased()
        var variants = (abbreviations[lowercased] ?? abbreviations[bare.lowercased()] ?? [])
        let letters = bare.split(separator: ".")
        if letters.count > 1 {
            // Initials such as U.S. and J.R.R., or words joined by a period without a space.
            let areInitials = letters.allSatisfy { $0.count == 1 }
            variants +=
                areInitials
                ? [spelled(letters.joined()[...])]
                : letters.reduce([[]]) { SpokenForm.product($0, letterVariants(of: $1)) }
        }
        if isSpelled(bare) { variants.append(spelled(bare)) }
        if letters.count > 1, text != bare { variants.append([lowercased]) }
        if letters.count == 1 {
            variants += spellings(bare).map { [$0] }
            if text != bare { variants.append([lowercased]) }
            let capitalizedParts = capitalizedParts(bare)
            if capitalizedParts.count > 1 { variants.append(capitalizedParts) }
        }
        return variants
    }

    /// Returns the lowercase spellings that a dictionary may have: complete, without surrounding apostrophes, and
    /// without accents.
    private static func spellings(_ word: Substring) -> [String] {
        let lowercased = word.lowercased()
        let withoutLeadingApostrophes = lowercased.drop { $0 == "'" }
        let bare = String(withoutLeadingApostrophes.reversed().drop { $0 == "'" }.reversed())
        let folded = String(lowercased.flatMap { folds[$0] ?? String($0) })
        return [lowercased, bare, folded].filter { !$0.isEmpty }.unique
    }

    private static let folds: [Character: String] = {
        let plain = [
            "a": "áàâäãåā", "c": "çčć", "e": "éèêëēę", "i": "íìîïī", "n": "ñńň", "o": "óòôöõøō", "s": "šś",
            "u": "úùûüūů",
            "y": "ýÿ", "z": "žźż", "ss": "ß", "ae": "æ", "oe": "œ", "l": "ł", "r": "ř", "t": "ť", "d": "ďđð", "g": "ğ",
        ]
        return plain.reduce(into: [:]) { folds, entry in
            for character in entry.value { folds[character] = entry.key }
        }
    }()

    /// Whether a word may be spelled out letter by letter, as in `BBC`, `TVs` and `J`.
    private static func isSpelled(_ word: Substring) -> Bool {
        let capitals = word.hasSuffix("s") && word.count > 2 ? word.dropLast() : word
        let bare = capitals.hasSuffix("'") ? capitals.dropLast() : capitals
        return (1...6).contains(bare.count) && bare.allSatisfy { $0.isASCII && $0.isUppercase }
    }

    /// Returns the letters' names in CMU's dictionary, such as `b.` and `v's`.
    private static func spelled(_ word: Substring) -> [String] {
        let letters = word.filter { $0.isLetter && ($0.isUppercase || !word.contains(where: \.isUppercase)) }
            .lowercased()
        var names = letters.map { "\($0)." }
        if word.last == "s", word.contains(where: \.isUppercase), let last = letters.last {
            names[names.count - 1] = "\(last)'s"
        }
        return names
    }

    /// Splits words such as `iPhone` and `YouTube` at their capitals.
    private static func capitalizedParts(_ word: Substring) -> [String] {
        var capitalizedParts: [String] = []
        var wasLowercase = false
        for character in word {
            if character.isUppercase && wasLowercase || capitalizedParts.isEmpty { capitalizedParts.append("") }
            capitalizedParts[capitalizedParts.count - 1] += character.lowercased()
            wasLowercase = character.isLowercase
        }
        return capitalizedParts
    }
}
