import Core
import Glibc
import System

// Recorders' own archives, and other archives of this kind.
extension Gathering {
    /// Adds the recordings of a recorder's own archive, one at a time, as copies like those that the recorder makes.
    func addRecorder(_ path: String) throws(DeviceError) {
        let recorder: RecorderArchive
        let recordings: [Int]
        do throws(DeviceError) {
            recorder = try RecorderArchive(path)
            recordings = try recorder.recordings()
        } catch { return report.problems.append(error.message) }
        if recordings.isEmpty { report.problems.append("\(path): contains no recordings") }
        let made = "made"
        for number in recordings {
            try staging.removeAll(made)
            try staging.makeFolder(made, mode: 0o750)
            do throws(DeviceError) {
                try recorder.copy(number, to: "\(staging.path)/\(made)")
            } catch {
                if error.code == .full { throw error }
                report.problems.append("\(path): recording \(number): \(error.message)")
                continue
            }
            let found = try FoundCopies(in: "\(staging.path)/\(made)", excluding: files)
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
        try staging.removeAll(made)
    }

    /// Adds readings of another archive that are not in its copies: later transcripts and corrections.
    func addReadings(of other: any OfficeArchive) throws(DeviceError) {
        var recordings: [(id: Int, copies: [String])] = []
        do throws(DeviceError) {
            for recording in try other.recordings(OfficeFilter()) {
                recordings.append((recording.id, try other.copies(of: recording.id)))
            }
        } catch { return report.problems.append(error.message) }
        for (id, copies) in recordings {
            var own: OfficeRecording?
            for digest in copies where own == nil { own = try archive.recording(ofCopy: digest) }
            // None of its copies was added, which the report mentions.
            guard let own else { continue }
            let known = Set(try archive.readings(of: own.id).map(\.digest))
            var missing: [GatheredReading] = []
            do throws(DeviceError) {
                for reading in try other.readings(of: id).reversed() where !known.contains(reading.digest) {
                    guard let timeline = try other.timeline(ofReading: reading.id) else { continue }
                    missing.append(
                        GatheredReading(
                            digest: reading.digest, timeline: timeline, person: reading.person, madeAt: reading.madeAt))
                }
            } catch {
                report.problems.append(error.message)
                continue
            }
            for reading in missing where try archive.add(reading, of: own.id) {
                if reading.person == nil { report.texts += 1 } else { report.corrections += 1 }
            }
        }
    }
}
