import Core

/// The measured accuracy of one pass.
package struct MeasuredReading: Hashable, Sendable {
    /// The pass, counted from 1 within the recording.
    package var number: Int
    /// The pass.
    package var pass: PassSummary
    /// Its errors.
    package var accuracy: Accuracy
}

extension ArchiveReading {
    /// Returns the accuracy of each complete engine pass against the person's corrections; empty if nobody changed or
    /// confirmed a word. The archive must return texts as recognized, without added punctuation.
    ///
    /// - Throws: `DeviceError` if the archive cannot be read.
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
            // Notes alone do not measure words.
            guard accuracy.heard.words + accuracy.heard.errors > 0 else { continue }
            measured.append(MeasuredReading(number: index + 1, pass: pass, accuracy: accuracy))
        }
        return measured
    }
}
