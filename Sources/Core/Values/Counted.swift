/// Returns a count with its noun: `1 copy`, `2 copies`.
package func counted(_ count: Int, _ singular: String, _ plural: String) -> String {
    "\(count) \(count == 1 ? singular : plural)"
}
