import Core

/// The readable texts beside encrypted copies. They reveal only the recordings' numbers.
enum SealedTexts {
    static let readmeName = "README.txt"

    static let readme = """
        Sealed recordings
        =================

        Each file that ends in .fieldscribe.age is a recording: a folder with the sound, the text and a page that plays
        the recording, packed with tar and encrypted with age. Only someone who has the private key for one of the
        recorder's public keys can open it. The recorder itself cannot.

        1. Install age: apt install age, brew install age, winget install FiloSottile.age, or from https://age-encryption.org
        2. In a terminal, in the folder of the file, with the private key in key.txt:

               age -d -i key.txt 000007.fieldscribe.age | tar x

           In Windows:

               age -d -i key.txt -o 000007.tar 000007.fieldscribe.age
               tar xf 000007.tar

        3. Open index.html in the folder that this creates. In that folder, sha256sum -c SHA256SUMS checks its files.

        If age refuses to open a file, the file was changed or is incomplete: copy it from the recorder again. In the
        folder of the sealed files, sha256sum -c SHA256SUMS checks them without a key. The decrypted folder is not
        protected: keep it where only authorized people can read it.

        """

    /// Lists recordings: `recording 7`, or `3 recordings, 1, 2 and 7`.
    static func recordings(_ ids: [Int]) -> String {
        let sorted = ids.sorted().map(String.init)
        guard let last = sorted.last, sorted.count > 1 else { return "recording \(sorted.first ?? "")" }
        return "\(sorted.count) recordings, \(sorted.dropLast().joined(separator: ", ")) and \(last)"
    }
}

extension FolderExport {
    /// Returns the content of RESULT.txt for encrypted copies. The text has no date, so that an unchanged text is not
    /// written again.
    func encryptedResultText(_ report: CopyReport, error: DeviceError?) -> String {
        var lines = ["Fieldscribe: sealed copies", ""]
        if let error { lines += ["NOTHING WAS COPIED: \(error.message)", ""] }
        lines += report.failureLines
        if !report.copied.isEmpty {
            let copied = SealedTexts.recordings(report.copied.map(\.recording))
            lines.append("Sealed, copied, read back \(report.readBackMethod), and verified: \(copied).")
        }
        if !report.keptCopies.isEmpty {
            lines.append("Already here: \(SealedTexts.recordings(report.keptCopies.map(\.recording))).")
        }
        if let omitted = omittedText { lines.append(omitted) }
        if let redaction = report.redactionText { lines.append(redaction) }
        let untranscribed = (report.copied + report.keptCopies).filter { $0.transcribedPart != nil }.map(\.recording)
        if !untranscribed.isEmpty {
            lines.append(
                "NOT EVERYTHING HAS BEEN TRANSCRIBED YET: \(SealedTexts.recordings(untranscribed)). "
                    + "The sound is complete; copy again later.")
        }
        if !report.unencryptedRecordings.isEmpty {
            lines += [
                "",
                "NOT SEALED: \(SealedTexts.recordings(report.unencryptedRecordings)), copied to this stick before copies were sealed. Anyone with "
                    + "the stick can read and hear them. They were not changed: delete them, and index.html, if they "
                    + "should not be here.",
            ]
        }
        if error == nil, report.copied.isEmpty, report.keptCopies.isEmpty, report.failures.isEmpty {
            lines.append("There was nothing to copy.")
        }
        lines.append("")
        lines += section("Fieldscribe/key.txt on this stick:", keyLines)
        lines += section("Settings on this stick:", settingsLines)
        if !correctionLines.isEmpty {
            lines += [
                "Files with corrections on this stick: \(correctionLines.count). The recorder's log shows the results.",
                "",
            ]
        }
        lines.append("\(SealedTexts.readmeName) explains how to open sealed recordings.")
        return lines.map { $0 + "\n" }.joined()
    }
}
