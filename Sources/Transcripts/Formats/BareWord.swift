/// Returns a word in lower case without surrounding punctuation; may be empty.
///
/// Keeps inner punctuation (apostrophes, hyphens, decimal points) and spoken signs: `&`, `%`, `#`, `@`.
func bareWord(_ text: String) -> String {
    let isMark = { (character: Character) in character.isPunctuation && !"&%#@".contains(character) }
    var word = text[...].drop(while: isMark)
    while let last = word.last, isMark(last) { word.removeLast() }
    return word.lowercased()
}
