/// Which utterances are read as one.
package struct GroupSettings: Hashable, Sendable {
    /// No group's audio is longer, in seconds, 4 or more. The default is 0: each utterance is read by itself.
    package var longestSeconds: Int

    /// The longest pause between the speech of two utterances of a group, in seconds. The default is 3.
    var longestGapSeconds: Int

    package init(longestSeconds: Int = 0, longestGapSeconds: Int = 3) {
        self.longestSeconds = longestSeconds
        self.longestGapSeconds = longestGapSeconds
    }
}
