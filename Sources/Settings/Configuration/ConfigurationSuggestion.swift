import System

/// The known name that was probably meant, in words; all known names if none is near.
func suggestion(for name: String, among known: [String]) -> String {
    // The second is a name whose `=` was forgotten, so that its value is a part of it.
    let given = [name.lowercased(), name.prefix { $0 != " " }.lowercased()]
    if let nearest = nearestName(to: given, among: known) { return "did you mean \(nearest)?" }
    return "known: \(known.joined(separator: ", "))"
}
