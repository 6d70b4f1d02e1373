import Core

/// The result of copying.
package struct CopyReport: Sendable {
    /// One recording that is complete on the target.
    package struct Copy: Hashable, Sendable {
        package var recording: Int

        /// Its folder or encrypted file, below the target's `Fieldscribe`.
        package var folder: String

        /// Bytes that were written and read back; 0 if it was already there.
        var bytes: Int64

        /// The extent of an incomplete text, in words; nil if it is complete.
        var written: String?

        var isSealed: Bool { SealedName(folder.split(separator: "/").last.map(String.init) ?? "") != nil }
    }

    package var copied: [Copy] = []

    /// The copies that were already there and are current.
    package var kept: [Copy] = []

    package var failures: [(recording: Int, error: DeviceError)] = []

    /// Why the lists of all recordings were not written; nil if they were.
    package var listsError: DeviceError?

    /// Whether every read bypassed the page cache; otherwise some files were dropped from it first.
    var readPastCache = true

    /// Recordings with readable copies on the target, made before copies were encrypted. They stay there.
    package var inClear: [Int] = []

    /// Redacted recordings whose earlier copies have files that somebody has changed or added.
    var keptAfterRedaction: [Int] = []

    /// Adds a copy and removes earlier entries of the same recording.
    mutating func add(_ copy: Copy, isNew: Bool) {
        copied.removeAll { $0.recording == copy.recording }
        kept.removeAll { $0.recording == copy.recording }
        if isNew { copied.append(copy) } else { kept.append(copy) }
    }

    /// The line of RESULT.txt about `keptAfterRedaction`; nil if it is empty.
    var redactionText: String? {
        guard !keptAfterRedaction.isEmpty else { return nil }
        return
            "REDACTED SINCE: \(SealedTexts.recordings(keptAfterRedaction)). Earlier copies were replaced, except for files that somebody has "
            + "changed or added there: check them, since they may still have the redacted words."
    }

    /// The lines of RESULT.txt about `failures`.
    var failureLines: [String] {
        if failures.isEmpty { return [] }
        return ["NOT EVERYTHING WAS COPIED. The rest is still on the recorder."]
            + failures.map { "    recording \($0.recording): \($0.error.message)" } + [""]
    }

    /// How the copies were read back, for RESULT.txt.
    var proof: String {
        readPastCache ? "bypassing the recorder's cache" : "after the recorder had emptied its cache"
    }

    /// The first failure; nil if everything is on the target.
    package var error: DeviceError? { failures.first?.error ?? listsError }
}

/// The progress of copying.
package struct CopyProgress: Hashable, Sendable {
    package var recording: Int

    /// The position of this recording among `count`, from 1.
    package var number: Int
    package var count: Int

    /// The samples that were read, out of `length`.
    package var reached: SamplePosition
    package var length: SamplePosition
}
