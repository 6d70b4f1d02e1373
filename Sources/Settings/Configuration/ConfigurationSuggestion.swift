import System

/// A suggestion of the most similar known name; all known names if none is similar.
func suggestion(for name: String, among known: [String]) -> String {
    // The second candidate is for a name whose `=` was forgotten.
    let given = [name.lowercased(), name.prefix { $0 != " " }.lowercased()]
    if let nearest = nearestName(to: given, among: known) { return "did you mean \(nearest)?" }
    return "known: \(known.joined(separator: ", "))"
}
