import Audio
import Core
import Maintenance
import Settings
import Transcripts

/// Performs requests from the control socket.
struct RecorderHandler: Sendable {
    let recorder: Recorder

    /// Called when a client reports new settings.
    var settingsChanged: @Sendable () -> Void = {}

    /// Performs a request other than `watch`.
    ///
    /// - Throws: an error, which the client receives as `ControlResponse.error`.
    func respond(to request: ControlRequest) async throws -> ControlResponse {
        var response = ControlResponse()
        switch request {
        case .command(let command): return ControlResponse(try await recorder.perform(command).get())
        case .press, .release:
            guard recorder.panel.simulate(pressed: request == .press) else {
                throw DeviceError(
                    .unsupported, "press", "the button is not simulated; press it by hand, or set panel.button = sim:")
            }
        case .lamp: response.lamp = recorder.panel.history
        case .status: response.status = try await status()
        case .exporting(let state, let message):
            recorder.hub.publish(.export(state, folder: "", message: message))
        case .claim: response.isHeld = recorder.panel.claimHold()
        case .laptop(let isConnected):
            // This request arrives repeatedly; subscribers get one event per change.
            if isConnected != recorder.snapshot.hasLaptop { recorder.hub.publish(.laptop(isConnected: isConnected)) }
        case .settings: settingsChanged()
        case .open(let key, let name): response.notes = try await recorder.opened.open(key, named: name)
        case .lock: response.wasOpen = await recorder.opened.lock()
        case .archive(let request, let directory): return try await answer(request, in: directory)
        case .watch: break
        }
        return response
    }

    private func answer(_ request: ArchiveRequest, in directory: String?) async throws -> ControlResponse {
        let storage = recorder.configuration.storage.directory
        if let directory, directory != storage {
            throw DeviceError(
                .missing, "archive",
                "\(directory): the appliance records to \(storage); use that folder instead"
            )
        }
        let archive = recorder.archive
        let opened = recorder.opened
        switch request {
        // These requests open files by path, so the folder must still be the one that was opened.
        case .verify, .delete, .redact, .importing, .exported, .adding: try archive.checkLocation()
        case .list, .show, .passes, .pass, .search, .history, .exportsOf, .exportsTo: break
        }
        var response = ControlResponse()
        switch request {
        case .list:
            let (recordings, live) = try await withLive { try await archive.recordings() }
            response.recordings = recordings.map { $0.with(live) }
        case .show(let recording, let pass):
            response.transcript = try await transcript {
                let archive = try await readable(recording)
                guard let pass else { return try await archive.transcript(of: recording) }
                return try await archive.transcript(of: recording, pass: pass)
            }
        case .passes(let recording): response.passes = try await readable(recording).passes(of: recording)
        case .pass(let recording): response.pass = try await readable(recording).shownPass(of: recording)
        case .search(let words, let limit):
            let hits = try await archive.search(words, limit: limit)
            response.hits = Array((hits + (try await opened.search(words, limit: limit))).prefix(max(0, limit)))
        case .history(let recording): response.history = try await archive.history(of: recording)
        case .verify(let recordings, let isQuick):
            response.findings = try await Verification(storage: storage, archive: archive).run(
                recordings, recording: Set(recorder.live.keys), isQuick: isQuick)
        case .delete(let recordings):
            response.notes = try await Erasure(storage: storage, archive: archive).erase(
                recordings, recording: Set(recorder.live.keys))
            try await opened.forget(recordings)
        case .redact(let request):
            (response.recording, response.notes) = try await recorder.redact(request)
        case .importing(let part, let recording):
            let file = CorrectionImport.File(
                name: part.name, text: part.text, recording: recording, person: part.person,
                siblingIdentity: part.siblingIdentity.flatMap { RecordingIdentity(in: $0) })
            response.notes = [try await CorrectionImport(recorder.configuration, archive: archive).apply(file)]
        case .exportsOf(let recording): response.exports = try await archive.exports(of: recording)
        case .exportsTo(let volume): response.exports = try await archive.exports(to: volume)
        case .exported(let entry): try await archive.add(entry)
        case .adding(let folder):
            let recording = try await FileAdder.add(folder, in: storage, to: archive)
            recorder.inbox.postInput(.added(recording))
            response.recording = recording
        }
        return response
    }

    /// Reads a transcript. If its recording is in progress, the transcript gets the recording's current length and is
    /// marked as incomplete.
    private func transcript(
        _ read: () async throws -> (RecordingSummary, Timeline)?
    ) async throws -> ControlResponse.Transcript? {
        let (result, live) = try await withLive(read)
        guard var (summary, timeline) = result else { return nil }
        summary = summary.with(live)
        if let live = summary.live { timeline.grow(to: live.length, transcribedUpTo: summary.transcribedUpTo) }
        return ControlResponse.Transcript(summary: summary, timeline: timeline)
    }

    /// Reads from the archive. Also returns the recordings that were in progress before or after the reading.
    private func withLive<Value>(
        _ read: () async throws -> Value
    ) async rethrows -> (Value, [Int: RecordingSummary.Live]) {
        let before = recorder.live
        let value = try await read()
        return (value, before.merging(recorder.live) { $1 })
    }

    /// Returns the archive with the transcript of a recording. For a sealed recording that is open, that is the
    /// decrypted archive.
    private func readable(_ recording: Int) async throws -> any ArchiveReading {
        try await recorder.opened.archive(of: recording) ?? recorder.archive
    }
}

extension RecordingSummary {
    fileprivate func with(_ live: [Int: Live]) -> RecordingSummary {
        var summary = self
        // The recording may have ended meanwhile.
        if stopReason == .cutShort { summary.live = live[id] }
        return summary
    }
}
