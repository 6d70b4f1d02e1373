extension Double {
    /// Clamped to 0 to 1; 0 for NaN and infinity.
    package var asShare: Double { isFinite ? within(0...1) : 0 }

    /// Clamped to years of four digits, as seconds since 1970-01-01T00:00:00Z; 0 for NaN.
    package var asWallTime: Double { within(0...253_402_300_799) }

    /// Clamped to a range; its lower bound for NaN.
    package func within(_ range: ClosedRange<Double>) -> Double {
        isNaN ? range.lowerBound : Swift.min(Swift.max(self, range.lowerBound), range.upperBound)
    }
}
