import Archive
import Audio
import Copying
import Core
import Settings
import System
import Transcripts

/// Imports people's corrections into the archive. A file is imported completely or not at all.
package struct CorrectionImport: Sendable {
    /// A file with corrections.
    package struct File: Hashable, Sendable {
        /// The file's name, whose extension determines the format.
        package var name: String
        package var text: String
        /// The ID of the recording that a person specified; nil if nobody did.
        package var recording: Int?
        /// The name of the person who made the corrections. A name in the file has precedence.
        package var person: String
        /// The recording's identity from another file in the same folder, for formats without one; nil if unknown.
        package var siblingIdentity: RecordingIdentity?

        package init(
            name: String, text: String, recording: Int? = nil, person: String = "",
            siblingIdentity: RecordingIdentity? = nil
        ) {
            self.name = name
            self.text = text
            self.recording = recording
            self.person = person
            self.siblingIdentity = siblingIdentity
        }
    }

    /// A pass from which a file may have been made.
    private struct Base {
        var pass: PassSummary
        /// The position of the pass among the recording's passes, from 1.
        var ordinal: Int
        var timeline: Timeline
    }

    private let storage: String
    private let learning: Learning
    private let proposesWords: Bool
    private let archive: SQLiteArchive
    private let punctuator: Punctuator
    private let aligner: WordAligner
    private let program: String

    /// - Parameters:
    ///   - configuration: specifies the storage, and the model that finds the times of words.
    ///   - program: a program that parses files in a sandbox.
    package init(_ configuration: Configuration, archive: SQLiteArchive, program: String = "/proc/self/exe") {
        self.program = program
        storage = configuration.storage.directory
        learning = Learning(configuration, archive: archive)
        proposesWords = configuration.recognizer.learn == .ask
        self.archive = archive
        // Ignores errors: if the language model is missing, the text on the page had no full stops either.
        punctuator = configuration.punctuator { _ throws(DeviceError) in }
        aligner = WordAligner(configuration)
    }

    /// Imports a file and returns the result in one line.
    ///
    /// - Throws: `DeviceError` with the file's name; nothing is changed then.
    package func apply(_ file: File) async throws -> String {
        let incoming = try await onThread(named: "read", niceness: 5) {
            try IncomingFile(
                confined: Array(file.text.utf8), as: .init(named: file.name), name: file.name, program: program)
        }
        switch incoming.content {
        case .corrections(let corrections):
            let summary = try await recording(corrections.identity, file)
            try check(RecordingCapacity(summary.length).excess(of: corrections), file)
            guard let base = try await base(of: corrections, summary) else {
                throw refusal(
                    file, "was made from an older text of recording \(summary.id), which no longer exists",
                    "copy the recording again, and correct the new page")
            }
            let person = corrections.person.isEmpty ? file.person : corrections.person
            var annotations = corrections.annotations
            // A page sends only its changes.
            annotations.turns = annotations.turns ?? base.timeline.annotations?.turns
            annotations.marks = annotations.marks ?? base.timeline.annotations?.marks
            let correction = Correction(
                person: person, savedAt: corrections.savedAt, base: base.ordinal, annotations: annotations)
            return try await store(
                corrections.lines(over: base.timeline.segments), correction, page: corrections, over: base, of: summary,
                file)
        case .text(let written):
            let contained = incoming.identity
            let specified = file.recording.map { RecordingIdentity(recording: $0, sound: "") }
            // A recording that the person specified has precedence over the other files in the folder.
            let siblingIdentity = file.siblingIdentity.flatMap {
                [nil, $0.recording].contains(file.recording) ? $0 : nil
            }
            guard let identity = contained ?? siblingIdentity ?? specified else {
                throw refusal(file, "does not identify its recording", "pass --recording ID")
            }
            let summary = try await recording(identity, file)
            let capacity = RecordingCapacity(summary.length)
            try check(capacity.excess(bytes: file.text.utf8.count, fileExtension: written.format), file)
            try check(capacity.excess(of: written), file)
            guard let (base, text) = try await base(of: written, summary, pass: contained?.pass) else {
                throw refusal(
                    file, "belongs to recording \(summary.id), which has not been transcribed yet",
                    "import it again afterwards")
            }
            guard text.wordCount > 0 || text.changedLineCount == 0 else {
                throw refusal(file, "has no words", "save the text again in the program with which it was corrected")
            }
            // The words must be similar, unless the file or the person identifies the recording, or the file has the
            // name of a text in a copy.
            guard
                text.isSimilar || contained != nil || file.recording != nil || TranscriptFormat.isFileName(file.name)
            else {
                throw refusal(
                    file, "has few words in common with recording \(summary.id)",
                    "if it belongs to that recording, pass --recording \(summary.id)")
            }
            // The file contains only words, so the shown names, notes and other annotations stay.
            let shownAnnotations = try await archive.shownPass(of: summary.id)?.correction?.annotations
            let correction = Correction(
                person: file.person, savedAt: MonotonicClock.wallSeconds, base: base.ordinal,
                annotations: shownAnnotations ?? Annotations())
            return try await store(text.lines, correction, page: nil, over: base, of: summary, file) + text.remark
        }
    }

    private func check(_ excess: String?, _ file: File) throws(DeviceError) {
        if let excess { throw refusal(file, excess, "shorten it, or choose another recording with --recording ID") }
    }

    /// Returns the recording to which a file belongs, after checking that the file was made from the recording's sound.
    private func recording(_ identity: RecordingIdentity, _ file: File) async throws -> RecordingSummary {
        if let requested = file.recording, requested != identity.recording {
            throw refusal(
                file, "belongs to recording \(identity.recording), not \(requested)", "leave out --recording")
        }
        guard let summary = try await archive.recordings().first(where: { $0.id == identity.recording }) else {
            throw refusal(file, "belongs to recording \(identity.recording), which is not in this archive", nil)
        }
        if summary.isSealed {
            throw refusal(
                file, "belongs to recording \(summary.id), which is sealed and cannot be changed",
                "open it with the private key, age -d -i key.txt \(RecordingFolder.sealedName) | tar x, and correct the result"
            )
        }
        guard summary.length > .zero, summary.transcribedUpTo >= summary.length else {
            throw refusal(file, "recording \(summary.id) is still being transcribed", "import it again afterwards")
        }
        if !identity.sound.isEmpty {
            let audio = RecordingFolder(storage: storage, recording: summary.id).audio
            let digest = try await onThread(named: "digest", niceness: 5) {
                try soundDigest(of: audio, length: summary.length)
            }
            guard digest == identity.sound else {
                let history = try await archive.history(of: summary.id).map(\.entry)
                if history.contains(where: { $0.act == .redacted }) {
                    let isKnown = history.contains { $0.sound == identity.sound }
                    throw refusal(
                        file,
                        "was made before a redaction of recording \(summary.id)\(isKnown ? "" : ", or of another recording")",
                        "copy the recording again, and save the corrections again from that copy's page")
                }
                throw refusal(file, "does not belong to recording \(summary.id) in this archive", nil)
            }
        }
        return summary
    }

    /// Returns the pass from which a page was made: the first one in `bases` that has the page's segments.
    private func base(of file: CorrectionsFile, _ summary: RecordingSummary) async throws -> Base? {
        try await bases(of: summary, first: file.pass).first { file.matches($0.timeline.segments, \.was) }
    }

    /// Returns the pass that an edited text specifies, otherwise the most similar pass, with the text's changes to it.
    /// Nil if there is no pass.
    private func base(
        of written: EditedTranscript, _ summary: RecordingSummary, pass: Int?
    ) async throws -> (Base, CorrectedText)? {
        var best: (base: Base, text: CorrectedText)?
        for base in try await bases(of: summary, first: pass) {
            if let pass, base.ordinal != pass, best?.base.ordinal == pass { break }
            let text = CorrectedText(written, over: base.timeline)
            if best.map({ text.isCloser(than: $0.text) }) ?? true { best = (base, text) }
        }
        return best.map { ($0.base, $0.text) }
    }

    /// Returns the complete passes: the specified pass, the shown pass, those by engines, then those by people, each
    /// group latest first. Each pass is returned with and without punctuation, because a page may have been made with
    /// other settings.
    private func bases(of summary: RecordingSummary, first: Int?) async throws -> [Base] {
        let shownID = try await archive.shownPass(of: summary.id)?.id
        let passes = try await archive.passes(of: summary.id).enumerated().filter { $0.element.isComplete }
        let order = passes.sorted { left, right in
            let rank = { (offset: Int, pass: PassSummary) in
                offset + 1 == first ? 3 : pass.id == shownID ? 2 : pass.correction == nil ? 1 : 0
            }
            let ranks = (rank(left.offset, left.element), rank(right.offset, right.element))
            return (ranks.0, left.offset) > (ranks.1, right.offset)
        }
        var bases: [Base] = []
        for (offset, pass) in order {
            guard let (_, plain) = try await archive.transcript(of: summary.id, pass: pass.id) else { continue }
            let punctuated = try punctuator.punctuated(plain)
            bases.append(Base(pass: pass, ordinal: offset + 1, timeline: punctuated))
            bases.append(Base(pass: pass, ordinal: offset + 1, timeline: plain))
        }
        return bases
    }

    /// Stores a correction and returns the result in one line.
    ///
    /// - Parameter page: the saved page; nil for other files, which lack annotations and the time of saving.
    private func store(
        _ lines: [CorrectedSegment], _ correction: Correction, page: CorrectionsFile?, over base: Base,
        of summary: RecordingSummary, _ file: File
    ) async throws -> String {
        let isPage = page != nil
        let isDivided = page?.isDivided ?? false
        var timed = try await timed(lines, of: summary)
        // Splits lines only now, because the times of new words decide where.
        if let page { timed = page.divided(timed) }
        let segments = timed.map(\.segment)
        let name = "\(file.name): recording \(summary.id)"
        let passes = try await archive.passes(of: summary.id)
        let shownPass = try await archive.shownPass(of: summary.id)
        if try await isKnown(segments, correction, isPage: isPage, among: passes, shown: shownPass) {
            return "\(name): already in the archive; nothing was changed"
        }
        let changes = timed.flatMap(\.changes)
        let isAnnotated = isPage && correction.annotations != base.timeline.annotations ?? Annotations()
        let moved = timed.count { $0.isMoved }
        if changes.isEmpty, !isAnnotated, !isDivided, moved == 0, !timed.contains(where: { $0.isConfirmed }) {
            // Importing an earlier state of a page again would revert the person's later corrections.
            guard isPage, let earlier = shownPass?.correction, earlier.person == correction.person,
                earlier.savedAt < correction.savedAt
            else { return "\(name): nothing was corrected in it; nothing was changed" }
        }
        let shownTimeline = try await archive.transcript(of: summary.id)?.1
        // The latest correction by another person, with which the result is compared.
        let otherPass = passes.last { $0.correction.map { $0.person != correction.person } ?? false }
        _ = try await archive.correct(segments, correction, recording: summary.id)
        let report = CorrectionSummary(
            changes: changes.count, moved: moved, isDivided: isDivided,
            estimated: timed.filter { !$0.changes.isEmpty }.flatMap(\.segment.words).count(where: \.hasEstimatedTime),
            segments: segments, person: correction.engine, annotations: correction.annotations, shown: shownTimeline)
        var line = "\(name): \(report.text)"
        if let otherPass, let (_, text) = try await archive.transcript(of: summary.id, pass: otherPass.id) {
            let differing = WordChange.changes(from: text.segments, to: segments).count
            let name = otherPass.correction.map { $0.person.isEmpty ? "somebody else" : $0.person } ?? ""
            let places = counted(differing, "place", "places")
            line +=
                differing == 0
                ? "; \(name) made the same corrections; " : "; differs from the corrections by \(name) in \(places); "
            line += "both are kept, and this one is shown (fieldscribe show \(summary.id) --changes)"
        }
        return line + (await learned())
    }

    /// Learns words from the archive's corrections and returns the result as text. A failure does not undo the import.
    private func learned() async -> String {
        do {
            let words = try await learning.learn()
            guard !words.isEmpty else { return "" }
            let rest = words.count > Self.maximumListed ? " and \(words.count - Self.maximumListed) more" : ""
            let list = words.prefix(Self.maximumListed).joined(separator: ", ") + rest
            return proposesWords
                ? "; accept these words with fieldscribe vocabulary accept: \(list)"
                : "; preferred from now on: \(list)"
        } catch { return "; no words were learned: \(DeviceError(wrapping: error).message)" }
    }

    private static let maximumListed = 10

    /// Returns whether the archive already has the same correction by the same person. For a page that was saved after
    /// that correction, returns true only if the correction is shown. Otherwise the person is reverting a later
    /// correction.
    private func isKnown(
        _ segments: [Segment], _ correction: Correction, isPage: Bool, among passes: [PassSummary], shown: PassSummary?
    ) async throws -> Bool {
        let content = { (segment: Segment) in
            isPage
                ? MergedTimelines.visibleWords(segment)
                : ["\(segment.range.start) \(segment.range.end) \(segment.text)"]
        }
        let newContent = segments.map(content)
        for pass in passes {
            guard let existing = pass.correction, existing.person == correction.person else { continue }
            if isPage {
                guard existing.annotations == correction.annotations,
                    pass.id == shown?.id || existing.savedAt >= correction.savedAt
                else { continue }
            }
            guard let (_, plain) = try await archive.transcript(of: pass.recording, pass: pass.id) else { continue }
            if plain.segments.map(content) == newContent { return true }
            if try punctuator.punctuated(plain).segments.map(content) == newContent { return true }
        }
        return false
    }

    /// Returns the segments with the times that the model finds for new words.
    private func timed(
        _ corrected: [CorrectedSegment], of summary: RecordingSummary
    ) async throws -> [CorrectedSegment] {
        let indices = corrected.indices.filter { index in
            !corrected[index].changes.isEmpty && corrected[index].segment.words.contains { $0.hasEstimatedTime }
        }
        guard !indices.isEmpty else { return corrected }
        let passages = indices.map {
            WordAligner.Passage(range: corrected[$0].segment.range, words: corrected[$0].segment.words.map(\.text))
        }
        let audio = RecordingFolder(storage: storage, recording: summary.id).audio
        let found = try await onThread(named: "align", niceness: 5) { aligner.times(of: passages, in: audio) }
        var timed = corrected
        for (index, ranges) in zip(indices, found) { if let ranges { timed[index].apply(times: ranges) } }
        return timed
    }

    private func refusal(_ file: File, _ reason: String, _ remedy: String?) -> DeviceError {
        DeviceError(
            .unsupported, "import", on: file.name, reason,
            remedy: [remedy, "nothing was changed"].compactMap { $0 }.joined(separator: "; "))
    }
}
