import Core

/// The readable texts beside encrypted copies. They reveal only the recordings' numbers.
enum SealedTexts {
    static let readmeName = "README.txt"

    static let readme = """
        Sealed recordings
        =================

        Each file that ends in .fieldscribe.age is one recording: its folder, with the sound, the text and a page that plays
        it, packed by tar and encrypted by age. Only somebody with the private key to one of the public keys that the recorder
        was given can open it. The recorder itself cannot, and nobody can without such a key.

        1. Install age: apt install age, brew install age, winget install FiloSottile.age, or from https://age-encryption.org
        2. In a terminal, in the folder of the file, with the private key in key.txt:

               age -d -i key.txt 000007.fieldscribe.age | tar x

           In Windows:

               age -d -i key.txt -o 000007.tar 000007.fieldscribe.age
               tar xf 000007.tar

        3. Open index.html in the folder that this makes. In that folder, sha256sum -c SHA256SUMS checks its files.

        A file that age refuses to open was changed or is incomplete: copy it from the recorder again. The SHA256SUMS
        beside the sealed files checks them without any key. The decrypted folder is as readable as any other: keep it
        where only authorized people can read it.

        """

    /// `1 recording, 7`, or `3 recordings, 1, 2 and 7`.
    static func recordings(_ numbers: [Int]) -> String {
        let sorted = numbers.sorted().map(String.init)
        guard let last = sorted.last, sorted.count > 1 else { return "recording \(sorted.first ?? "")" }
        return "\(sorted.count) recordings, \(sorted.dropLast().joined(separator: ", ")) and \(last)"
    }
}

extension FolderExport {
    /// Returns RESULT.txt for encrypted copies. It has no date, so that an unchanged text is not written again.
    func encryptedResultText(_ report: CopyReport, error: DeviceError?) -> String {
        var lines = ["Fieldscribe: sealed copies", ""]
        if let error { lines += ["NOTHING WAS COPIED: \(error.message)", ""] }
        lines += report.failureLines
        if !report.copied.isEmpty {
            let copied = SealedTexts.recordings(report.copied.map(\.recording))
            lines.append("Sealed, copied, read back \(report.proof), and verified: \(copied).")
        }
        if !report.kept.isEmpty {
            lines.append("Already here: \(SealedTexts.recordings(report.kept.map(\.recording))).")
        }
        if let leftOut = leftOutText { lines.append(leftOut) }
        if let left = report.redactionText { lines.append(left) }
        let unwritten = (report.copied + report.kept).filter { $0.written != nil }.map(\.recording)
        if !unwritten.isEmpty {
            lines.append(
                "NOT EVERYTHING HAS BEEN TRANSCRIBED YET: \(SealedTexts.recordings(unwritten)). The sound is complete; "
                    + "copy again later.")
        }
        if !report.inClear.isEmpty {
            lines += [
                "",
                "NOT SEALED: \(SealedTexts.recordings(report.inClear)), copied to this stick before copies were sealed. Anyone with "
                    + "the stick can read and hear them. They were left as they are: delete them, and index.html, if they "
                    + "are not to be here.",
            ]
        }
        if error == nil, report.copied.isEmpty, report.kept.isEmpty, report.failures.isEmpty {
            lines.append("There was nothing to copy.")
        }
        lines.append("")
        lines += section("Fieldscribe/key.txt on this stick:", key) + section("Settings on this stick:", answer)
        if !corrections.isEmpty {
            lines += [
                "Files of corrections on this stick: \(corrections.count). The recorder's log has their results.",
                "",
            ]
        }
        lines.append("\(SealedTexts.readmeName) explains how to open sealed recordings.")
        return lines.map { $0 + "\n" }.joined()
    }
}
