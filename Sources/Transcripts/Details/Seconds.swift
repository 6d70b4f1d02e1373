import Core

/// Returns a position in seconds, exactly and without an exponent: `0.42`, `12`, `360000.5`.
package func decimalSeconds(_ position: SamplePosition) -> String {
    // A sample is 0.0000625 s.
    let units = max(0, position.samples) * 625
    let fraction = (units % 10_000_000).padded(to: 7).reversed().drop { $0 == "0" }.reversed()
    return "\(units / 10_000_000)" + (fraction.isEmpty ? "" : "." + String(fraction))
}

/// Returns hours, minutes and seconds for people: `3:07`, `1:03:07`.
package func clockTime(_ position: SamplePosition) -> String {
    let seconds = max(0, position.samples) / Int64(SamplePosition.rate)
    let minutes = seconds < 3_600 ? "\(seconds / 60)" : "\(seconds / 3_600):\((seconds / 60 % 60).padded(to: 2))"
    return "\(minutes):\((seconds % 60).padded(to: 2))"
}
