extension Double {
    /// From 0 to 1; 0 for what is no number, or infinite.
    package var asShare: Double { isFinite ? within(0...1) : 0 }

    /// Seconds since 1970-01-01T00:00:00Z, in years of four digits; the first for what is no number.
    package var asWallTime: Double { within(0...253_402_300_799) }

    /// The nearest number of a range; the lower bound for what is none.
    package func within(_ range: ClosedRange<Double>) -> Double {
        isNaN ? range.lowerBound : Swift.min(Swift.max(self, range.lowerBound), range.upperBound)
    }
}
