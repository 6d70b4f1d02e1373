/// A word without the marks around it, in lowercase; empty where it is nothing but marks.
///
/// What is inside stays: apostrophes, hyphens, points of numbers. So does what is said: `&`, `%`, `#`, `@`.
func bareWord(_ text: String) -> String {
    let isMark = { (character: Character) in character.isPunctuation && !"&%#@".contains(character) }
    var word = text[...].drop(while: isMark)
    while let last = word.last, isMark(last) { word.removeLast() }
    return word.lowercased()
}
