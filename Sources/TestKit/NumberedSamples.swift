/// Returns samples whose values show their position: 1, 2, 3, …, 30,000, 1, 2, …; none is zero.
package func numbered(from start: Int = 0, _ count: Int) -> [Int16] {
    var samples = [Int16](repeating: 0, count: count)
    for index in 0..<count { samples[index] = Int16((start + index) % 30_000 + 1) }
    return samples
}
