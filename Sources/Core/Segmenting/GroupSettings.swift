/// Settings for reading several utterances as one.
package struct GroupSettings: Hashable, Sendable {
    /// The longest group's audio in seconds, 4 or more. The default is 0: no groups.
    package var longestSeconds: Int
    /// The longest pause between two utterances of a group, in seconds. The default is 3.
    package var longestGapSeconds: Int

    package init(longestSeconds: Int = 0, longestGapSeconds: Int = 3) {
        self.longestSeconds = longestSeconds
        self.longestGapSeconds = longestGapSeconds
    }
}
