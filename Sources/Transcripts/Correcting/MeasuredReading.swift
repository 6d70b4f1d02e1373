import Core

/// How well an engine has read a recording, by what a person has put right in it.
package struct MeasuredReading: Hashable, Sendable {
    /// Which pass it is, counted within the recording: 1, 2 ...
    package var number: Int
    /// The reading.
    package var pass: PassSummary
    /// Its errors.
    package var accuracy: Accuracy
}

extension ArchiveReading {
    /// The complete readings of one recording by engines, in their order, against what a person left of it; none where nobody has
    /// changed or confirmed a word of it. The archive has to give texts as they were heard, without punctuation that was put in since.
    ///
    /// - Throws: `DeviceError` where the archive cannot be read.
    package func measuredReadings(of recording: Int) async throws -> [MeasuredReading] {
        let passes = try await passes(of: recording)
        guard let shown = try await shownPass(of: recording), shown.correction != nil,
            let heard = passes.heard(under: shown),
            let corrected = try await transcript(of: recording, pass: shown.id)?.1.segments,
            let base = try await transcript(of: recording, pass: heard.id)?.1.segments
        else { return [] }
        var measured: [MeasuredReading] = []
        for (index, pass) in passes.enumerated() where pass.correction == nil && pass.isComplete {
            guard let read = try await transcript(of: recording, pass: pass.id)?.1.segments else { continue }
            let accuracy = Accuracy(of: read, base: base, corrected: corrected)
            // Notes alone say nothing of its words.
            guard accuracy.heard.words + accuracy.heard.errors > 0 else { continue }
            measured.append(MeasuredReading(number: index + 1, pass: pass, accuracy: accuracy))
        }
        return measured
    }
}
