import Core
import System

/// Writes RESULT.txt on a stick that carries a private key, and to which nothing is copied; without a date, so that it is written only
/// where there is something else to say. Blocks.
///
/// - Parameters:
///   - path: the folder in which `Fieldscribe` stands.
///   - key: what became of the key, a line each.
///   - answer: what became of the settings that the stick brought, a line each.
package func tellKeyStick(_ path: String, key: [String], answer: [String]) throws(DeviceError) {
    let top = try Folder(opening: path).folder("Fieldscribe")
    let lines =
        [
            "Fieldscribe: a private key", "",
            "NOTHING WAS COPIED to this stick: whoever finds it could open the copies with key.txt.",
            "Copy to another stick, or take key.txt away from this one.", "",
        ] + told("Fieldscribe/key.txt on this stick:", key) + told("Settings on this stick:", answer)
    if try top.renewList("RESULT.txt", with: lines.map { $0 + "\n" }.joined()) { try top.syncFileSystem() }
}

/// What is told of something on a stick, below a heading; nothing where nothing is. It may hold anything that was on the stick.
func told(_ heading: String, _ lines: [String]) -> [String] {
    if lines.isEmpty { return [] }
    return [heading]
        + lines.map { line in
            let text = line.split(whereSeparator: \.isNewline).joined(separator: " ")
            return "    " + (line.hasPrefix("    ") ? "    " : "") + String(text.prefix(400))
        } + [""]
}
