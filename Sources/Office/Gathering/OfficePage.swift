import Core
import System
import Transcripts

/// Writes a page with all recordings in an archive into the folder of the copies. A browser can search it without a
/// server.
package enum OfficePage {
    package static let name = "index.html"

    /// Writes the page atomically.
    ///
    /// - Returns: the number of recordings on the page.
    package static func write(for archive: any OfficeArchive) throws(DeviceError) -> Int {
        var entries: [IndexEntry] = []
        let recordings = try archive.recordings(OfficeFilter()).sorted {
            ($0.recorder.folder, $1.startedAt, $1.id) < ($1.recorder.folder, $0.startedAt, $0.id)
        }
        for recording in recordings where !recording.copyFolder.isEmpty {
            let shown = try archive.shownTimeline(of: recording.id)
            let text = shown?.segments.map(\.text).filter { !$0.isEmpty }.joined(separator: "\n") ?? ""
            let page = "\(recording.copyFolder)/index.html"
            let hasPage = pathExists("\(archive.filesPath)/\(page)")
            let link = hasPage ? page : "\(recording.copyFolder)/\(recording.audioName)"
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
        let folder = try Folder(opening: archive.filesPath, crossesMounts: true)
        try folder.checkReplaceable(name)
        try folder.replace(name, with: Array(page.utf8), mode: 0o644)
        return entries.count
    }

    /// Returns the recording's title, or its start if it has no title, or its number if the start is unknown.
    static func title(of recording: OfficeRecording) -> String {
        if !recording.title.isEmpty { return oneLine(recording.title) }
        guard recording.startedAt > 0 else { return "Recording \(recording.number)" }
        let (day, time) = localMinute(of: recording.startedAt)
        return "\(day), \(time)"
    }
}
