import Core
import System
import Transcripts

/// Writes a page with all recordings in an archive, beside the copies. The page's search needs neither a server nor
/// this program.
package enum OfficePage {
    package static let name = "index.html"

    /// Writes the page atomically.
    ///
    /// - Returns: the number of recordings on it.
    package static func write(over archive: any OfficeArchive) throws(DeviceError) -> Int {
        var entries: [IndexEntry] = []
        // Grouped by recorder, the latest first.
        let recordings = try archive.recordings(OfficeFilter()).sorted {
            ($0.recorder.folder, $1.startedAt, $1.id) < ($1.recorder.folder, $0.startedAt, $0.id)
        }
        for recording in recordings where !recording.place.isEmpty {
            let shown = try archive.shownTimeline(of: recording.id)
            let text = shown?.segments.map(\.text).filter { !$0.isEmpty }.joined(separator: "\n") ?? ""
            // Links to the sound if the copy has no page.
            let page = "\(recording.place)/index.html"
            let link = pathExists("\(archive.files)/\(page)") ? page : "\(recording.place)/\(recording.audio)"
            let facts = [
                clockTime(recording.length), "recording \(recording.number)", recording.people,
                recording.clock == .unverified ? "clock unverified" : "",
            ]
            entries.append(
                IndexEntry(
                    device: recording.recorder.folder, link: link, title: title(of: recording),
                    facts: facts.filter { !$0.isEmpty }.map(oneLine), text: text))
        }
        let page = try rethrowing { try indexPage(entries) }
        let folder = try Folder(opening: archive.files, crossesMounts: true)
        try folder.checkReplaceable(name)
        try folder.replace(name, with: Array(page.utf8), mode: 0o644)
        return entries.count
    }

    /// Returns the recording's title, or its time if it has no title.
    static func title(of recording: OfficeRecording) -> String {
        if !recording.title.isEmpty { return oneLine(recording.title) }
        guard recording.startedAt > 0 else { return "Recording \(recording.number)" }
        let (day, time) = localMinute(of: recording.startedAt)
        return "\(day), \(time)"
    }
}
