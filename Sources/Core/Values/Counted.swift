/// `1 copy`, `2 copies`.
package func counted(_ count: Int, _ one: String, _ several: String) -> String {
    "\(count) \(count == 1 ? one : several)"
}
