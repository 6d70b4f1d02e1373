import Core
import System

/// Writes RESULT.txt to a stick with a private key, to which nothing is copied. It has no date, so that an unchanged
/// text is not written again. Blocks.
///
/// - Parameters:
///   - path: the folder with the folder `Fieldscribe`.
///   - key: lines about the key.
///   - answer: lines about settings on the stick.
package func tellKeyStick(_ path: String, key: [String], answer: [String]) throws(DeviceError) {
    let top = try Folder(opening: path).folder("Fieldscribe")
    let lines =
        [
            "Fieldscribe: a private key", "",
            "NOTHING WAS COPIED to this stick: anyone who finds it could open the copies with key.txt.",
            "Copy to another stick, or delete key.txt from this one.", "",
        ] + section("Fieldscribe/key.txt on this stick:", key) + section("Settings on this stick:", answer)
    if try top.renewList("RESULT.txt", with: lines.map { $0 + "\n" }.joined()) { try top.syncFileSystem() }
}

/// Formats lines below a heading; empty without lines. They may quote anything on the stick.
func section(_ heading: String, _ lines: [String]) -> [String] {
    if lines.isEmpty { return [] }
    return [heading]
        + lines.map { line in
            let text = line.split(whereSeparator: \.isNewline).joined(separator: " ")
            return "    " + (line.hasPrefix("    ") ? "    " : "") + String(text.prefix(400))
        } + [""]
}
