import Core
import Glibc
import System

// Adds recorders' own archives, and other archives of fieldscribe-office.
extension Gathering {
    /// Adds the recordings in a recorder's own archive. Exports one recording at a time, as the recorder would copy it to a
    /// stick.
    func addRecorderArchive(_ path: String) throws(DeviceError) {
        let recorder: RecorderArchive
        let recordings: [Int]
        do throws(DeviceError) {
            recorder = try RecorderArchive(path)
            recordings = try recorder.recordings()
        } catch { return report.problems.append(error.message) }
        if recordings.isEmpty { report.problems.append("\(path): contains no recordings") }
        let exportName = "exported"
        for number in recordings {
            try staging.removeAll(exportName)
            try staging.makeFolder(exportName, mode: 0o750)
            do throws(DeviceError) {
                try recorder.copy(number, to: "\(staging.path)/\(exportName)")
            } catch {
                if error.code == .full { throw error }
                report.problems.append("\(path): recording \(number): \(error.message)")
                continue
            }
            let foundCopies = try FoundCopies(in: "\(staging.path)/\(exportName)", excluding: files)
            report.problems += foundCopies.problems
            try add(
                foundCopies.copies.map { foundCopy in
                    var copy = foundCopy
                    copy.recorder.name = recorder.name
                    copy.recorder.key = recorder.key
                    return copy
                })
        }
        try commit()
        try staging.removeAll(exportName)
    }

    /// Adds the transcripts and corrections from another archive that are not in its copies.
    func addTranscripts(from other: any OfficeArchive) throws(DeviceError) {
        var recordings: [(id: Int, copies: [String])] = []
        do throws(DeviceError) {
            for recording in try other.recordings(OfficeFilter()) {
                recordings.append((recording.id, try other.copies(of: recording.id)))
            }
        } catch { return report.problems.append(error.message) }
        for (id, copies) in recordings {
            var recording: OfficeRecording?
            for digest in copies where recording == nil { recording = try archive.recording(ofCopy: digest) }
            // If none of the recording's copies was added, the report already says why.
            guard let recording else { continue }
            let existingDigests = Set(try archive.transcripts(of: recording.id).map(\.digest))
            var missing: [GatheredTranscript] = []
            do throws(DeviceError) {
                for transcript in try other.transcripts(of: id).reversed() {
                    if existingDigests.contains(transcript.digest) { continue }
                    guard let timeline = try other.timeline(ofTranscript: transcript.id) else { continue }
                    missing.append(
                        GatheredTranscript(
                            digest: transcript.digest, timeline: timeline, person: transcript.person,
                            madeAt: transcript.madeAt))
                }
            } catch {
                report.problems.append(error.message)
                continue
            }
            for transcript in missing where try archive.add(transcript, of: recording.id) {
                if transcript.person == nil { report.texts += 1 } else { report.corrections += 1 }
            }
        }
    }
}
