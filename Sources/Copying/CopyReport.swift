import Core

/// How a copy went.
package struct CopyReport: Sendable {
    /// One recording that is on the target, whole.
    package struct Copy: Hashable, Sendable {
        /// The recording's number.
        package var recording: Int

        /// Its folder, or its sealed file, below the target's `Fieldscribe`.
        package var folder: String

        /// Bytes that were written and read back; 0 where it was there before.
        var bytes: Int64

        /// How far its text has come, in words; nil where it has come to the end.
        var written: String?

        /// Whether it is a sealed file.
        var isSealed: Bool { SealedName(folder.split(separator: "/").last.map(String.init) ?? "") != nil }
    }

    /// Copied now.
    package var copied: [Copy] = []

    /// There before, and found whole.
    package var kept: [Copy] = []

    /// Not copied, and why.
    package var failures: [(recording: Int, error: DeviceError)] = []

    /// What became of the lists over all recordings: nil where they were written.
    package var listsError: DeviceError?

    /// Whether every file was read back past the page cache; else the cache was emptied of some before.
    var readPastCache = true

    /// Recordings that are on the target in the clear, from before copies were sealed; they are left there.
    package var inClear: [Int] = []

    /// Recordings in which something was struck, of whose copies of before something was left that somebody had changed or added.
    var leftStruck: [Int] = []

    /// How many recordings have no room on the drive.
    var leftOut = 0

    init() {}

    /// Adds a copy in the place of what was said of an earlier one of that recording.
    mutating func add(_ copy: Copy, isNew: Bool) {
        copied.removeAll { $0.recording == copy.recording }
        kept.removeAll { $0.recording == copy.recording }
        if isNew { copied.append(copy) } else { kept.append(copy) }
    }

    /// What RESULT.txt says of what was left; nil where there is none.
    var leftStruckText: String? {
        guard !leftStruck.isEmpty else { return nil }
        return
            "STRUCK SINCE: \(SealedTexts.recordings(leftStruck)). Earlier copies were replaced, but for files that somebody has "
            + "changed or added there: look through them, since they may have what was struck."
    }

    /// What RESULT.txt says of recordings that have no room; nil where there are none.
    var leftOutText: String? {
        guard leftOut > 0 else { return nil }
        return
            "\(leftOut == 1 ? "1 older recording is" : "\(leftOut) older recordings are") NOT HERE: the card keeps room for "
            + "new recordings. A stick gets everything."
    }

    /// What the copy failed by; nil where everything is there.
    package var error: DeviceError? { failures.first?.error ?? listsError }
}

/// How far a copy has come.
package struct CopyProgress: Hashable, Sendable {
    /// The number of the recording that is being copied.
    package var recording: Int

    /// The place of this recording among `count`, from 1.
    package var number: Int
    /// How many recordings this copy takes.
    package var count: Int

    /// Samples of it that were read, out of `length`.
    package var reached: SamplePosition
    /// The recording's length.
    package var length: SamplePosition

    init(recording: Int, number: Int, count: Int, reached: SamplePosition, length: SamplePosition) {
        self.recording = recording
        self.number = number
        self.count = count
        self.reached = reached
        self.length = length
    }
}
