extension Double {
    /// The number clamped to 0...1; 0 for NaN and infinity.
    package var asShare: Double { isFinite ? within(0...1) : 0 }

    /// The number as seconds since 1970-01-01T00:00:00Z, clamped to the years 1970 to 9999; 0 for NaN.
    package var asWallTime: Double { within(0...253_402_300_799) }

    /// Returns the number clamped to a range; the lower bound for NaN.
    package func within(_ range: ClosedRange<Double>) -> Double {
        isNaN ? range.lowerBound : Swift.min(Swift.max(self, range.lowerBound), range.upperBound)
    }
}
