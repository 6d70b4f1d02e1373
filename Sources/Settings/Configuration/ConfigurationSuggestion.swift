import System

/// The known name that was probably meant, in words; all known names if none is near.
func suggestion(for name: String, among known: [String]) -> String {
    // The second is the name if the line lacks its `=`, so that the value follows.
    let given = [name.lowercased(), name.prefix { $0 != " " }.lowercased()]
    if let nearest = nearestName(to: given, among: known) { return "did you mean \(nearest)?" }
    return "known: \(known.joined(separator: ", "))"
}
