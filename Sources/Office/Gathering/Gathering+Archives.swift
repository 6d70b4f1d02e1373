import Core
import Glibc
import System

// Adds recorders' own archives, and other archives of fieldscribe-office.
extension Gathering {
    /// Adds the recordings in a recorder's own archive, one at a time, as copies like those that the recorder makes.
    func addRecorder(_ path: String) throws(DeviceError) {
        let recorder: RecorderArchive
        let recordings: [Int]
        do throws(DeviceError) {
            recorder = try RecorderArchive(path)
            recordings = try recorder.recordings()
        } catch { return report.problems.append(error.message) }
        if recordings.isEmpty { report.problems.append("\(path): contains no recordings") }
        let exported = "exported"
        for number in recordings {
            try staging.removeAll(exported)
            try staging.makeFolder(exported, mode: 0o750)
            do throws(DeviceError) {
                try recorder.copy(number, to: "\(staging.path)/\(exported)")
            } catch {
                if error.code == .full { throw error }
                report.problems.append("\(path): recording \(number): \(error.message)")
                continue
            }
            let found = try FoundCopies(in: "\(staging.path)/\(exported)", excluding: files)
            report.problems += found.problems
            try add(
                found.copies.map { copy in
                    var copy = copy
                    copy.recorder.name = recorder.name
                    copy.recorder.key = recorder.key
                    return copy
                })
        }
        try commit()
        try staging.removeAll(exported)
    }

    /// Adds transcripts from another archive that are not in its copies: later transcripts and corrections.
    func addReadings(of other: any OfficeArchive) throws(DeviceError) {
        var recordings: [(id: Int, copies: [String])] = []
        do throws(DeviceError) {
            for recording in try other.recordings(OfficeFilter()) {
                recordings.append((recording.id, try other.copies(of: recording.id)))
            }
        } catch { return report.problems.append(error.message) }
        for (id, copies) in recordings {
            var recording: OfficeRecording?
            for digest in copies where recording == nil { recording = try archive.recording(ofCopy: digest) }
            // If none of its copies was added, the report already says so.
            guard let recording else { continue }
            let known = Set(try archive.readings(of: recording.id).map(\.digest))
            var missing: [GatheredTranscript] = []
            do throws(DeviceError) {
                for reading in try other.readings(of: id).reversed() where !known.contains(reading.digest) {
                    guard let timeline = try other.timeline(ofReading: reading.id) else { continue }
                    missing.append(
                        GatheredTranscript(
                            digest: reading.digest, timeline: timeline, person: reading.person, madeAt: reading.madeAt))
                }
            } catch {
                report.problems.append(error.message)
                continue
            }
            for reading in missing where try archive.add(reading, of: recording.id) {
                if reading.person == nil { report.texts += 1 } else { report.corrections += 1 }
            }
        }
    }
}
