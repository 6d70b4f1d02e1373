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

        /// How much has been transcribed, for people; nil if the transcript is complete or was not copied.
        var transcribedPart: String?

        var isSealed: Bool { SealedName(folder.split(separator: "/").last.map(String.init) ?? "") != nil }
    }

    package var copied: [Copy] = []

    /// The copies that were already current.
    package var keptCopies: [Copy] = []

    package var failures: [(recording: Int, error: DeviceError)] = []

    /// Why a file beside the copies, such as the list of recordings, is missing or incomplete; nil if none is.
    package var listsError: DeviceError?

    /// False if a file system lacks O_DIRECT: its files were dropped from the page cache before they were read back.
    var bypassedCache = true

    /// The recordings that have readable copies on the target, although copies are encrypted now. The readable copies
    /// stay.
    package var unencryptedRecordings: [Int] = []

    /// The redacted recordings of which outdated copies, or files that somebody changed or added there, stay because
    /// the ledger does not list them as they are now.
    var keptAfterRedaction: Set<Int> = []

    /// Adds a copy and removes the recording's previous entries.
    mutating func add(_ copy: Copy, isNew: Bool) {
        copied.removeAll { $0.recording == copy.recording }
        keptCopies.removeAll { $0.recording == copy.recording }
        if isNew { copied.append(copy) } else { keptCopies.append(copy) }
    }

    var redactionText: String? {
        guard !keptAfterRedaction.isEmpty else { return nil }
        return
            "REDACTED SINCE: \(SealedTexts.recordings(Array(keptAfterRedaction))). Earlier copies were replaced, except "
            + "for files that were changed or added there: check them, because they may contain redacted words, and "
            + "then remove them."
    }

    var failureLines: [String] {
        if failures.isEmpty { return [] }
        return ["NOT EVERYTHING WAS COPIED. The rest is still on the recorder."]
            + failures.map { "    recording \($0.recording): \($0.error.message)" } + [""]
    }

    var readBackMethod: String {
        bypassedCache ? "bypassing the recorder's cache" : "after the recorder had emptied its cache"
    }

    /// The first failure, otherwise `listsError`; nil if the run was successful.
    package var error: DeviceError? { failures.first?.error ?? listsError }
}

/// The progress of a copy run.
package struct CopyProgress: Hashable, Sendable {
    package var recording: Int

    /// The position of this recording among the `count` recordings of the run, from 1.
    package var ordinal: Int
    package var count: Int

    /// The position up to which samples have been read, out of `length`.
    package var reached: SamplePosition
    package var length: SamplePosition
}
