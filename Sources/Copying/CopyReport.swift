import Core

/// The result of a copy run.
package struct CopyReport: Sendable {
    /// One recording that is complete on the target.
    package struct Copy: Hashable, Sendable {
        package var recording: Int

        /// The path of the copy's folder or encrypted file, relative to the target's folder `Fieldscribe`.
        package var folder: String

        /// The number of bytes that were written and read back; 0 if the copy was already there.
        var bytes: Int64

        /// How much has been transcribed, as readable text; nil if the transcript is complete.
        var written: String?

        var isSealed: Bool { SealedName(folder.split(separator: "/").last.map(String.init) ?? "") != nil }
    }

    package var copied: [Copy] = []

    /// The copies that were already there and are current.
    package var kept: [Copy] = []

    package var failures: [(recording: Int, error: DeviceError)] = []

    /// Why the lists of all recordings were not written; nil if they were.
    package var listsError: DeviceError?

    /// Whether every read bypassed the page cache; otherwise some files were dropped from the cache before they were
    /// read.
    var bypassedCache = true

    /// The recordings with readable copies on the target from the time before copies were encrypted. They stay there.
    package var unencryptedRecordings: [Int] = []

    /// The redacted recordings whose earlier copies have files that somebody changed or added. Those files stay.
    var keptAfterRedaction: [Int] = []

    /// Adds a copy and removes earlier entries of the same recording.
    mutating func add(_ copy: Copy, isNew: Bool) {
        copied.removeAll { $0.recording == copy.recording }
        kept.removeAll { $0.recording == copy.recording }
        if isNew { copied.append(copy) } else { kept.append(copy) }
    }

    /// The line about `keptAfterRedaction` in RESULT.txt; nil if there are no such recordings.
    var redactionText: String? {
        guard !keptAfterRedaction.isEmpty else { return nil }
        return
            "REDACTED SINCE: \(SealedTexts.recordings(keptAfterRedaction)). Earlier copies were replaced, except for "
            + "files that somebody has changed or added there: check them, because they may contain redacted words."
    }

    /// The lines about `failures` in RESULT.txt.
    var failureLines: [String] {
        if failures.isEmpty { return [] }
        return ["NOT EVERYTHING WAS COPIED. The rest is still on the recorder."]
            + failures.map { "    recording \($0.recording): \($0.error.message)" } + [""]
    }

    /// How the copies were read back, for RESULT.txt.
    var readBackMethod: String {
        bypassedCache ? "bypassing the recorder's cache" : "after the recorder had emptied its cache"
    }

    /// The first failure; nil if everything is on the target.
    package var error: DeviceError? { failures.first?.error ?? listsError }
}

/// The progress of a copy run.
package struct CopyProgress: Hashable, Sendable {
    package var recording: Int

    /// The position of this recording among the `count` recordings of the run, from 1.
    package var number: Int
    package var count: Int

    /// The position up to which samples have been read, out of `length`.
    package var reached: SamplePosition
    package var length: SamplePosition
}
