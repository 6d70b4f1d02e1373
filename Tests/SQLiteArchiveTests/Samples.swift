import System

@testable import Archive
@testable import Core

let engine = EngineDescription(name: "pocketsphinx", version: "5.0.1", model: "en-us")

/// Returns a segment that starts at `start` and has the words of `text`, each 1,000 samples long.
func segment(_ id: Int, at start: Int64, _ text: String, endedBy: EndReason = .silence) -> Segment {
    let words = text.split(separator: " ").enumerated().map { index, word in
        let from = SamplePosition(start + Int64(index) * 1_000)
        return Word(String(word), SampleRange(from, from + 1_000), confidence: 0.5)
    }
    let end = SamplePosition(start + Int64(words.count) * 1_000)
    return Segment(id: id, range: SampleRange(SamplePosition(start), end), words: words, endedBy: endedBy)
}

func turn(_ start: Int64, _ end: Int64, _ speaker: Int) -> Speakers.Turn {
    Speakers.Turn(SampleRange(SamplePosition(start), SamplePosition(end)), speaker: speaker)
}

extension SQLiteArchive {
    /// Opens the archive as the recorder does when it starts, and completes all recordings from their journals.
    ///
    /// - Returns: The archive, the path of a damaged database that was set aside, and the IDs of changed recordings.
    static func openCatchingUp(
        path: String
    ) async throws -> (archive: SQLiteArchive, setAside: String?, restored: [Int]) {
        let opened = try await openRepairing(path: path, isChecked: true)
        var restored: [Int] = []
        for recording in try names(inFolder: "\(folder(of: path))/recordings").compactMap({ Int($0) }) {
            if try await opened.archive.catchUp(with: recording) { restored.append(recording) }
        }
        return (opened.archive, opened.setAside, restored)
    }

    /// Adds a recording with one pass, which has a segment for each text.
    @discardableResult
    func record(_ texts: String...) async throws -> (recording: Int, pass: Int) {
        let recording = try beginRecording(startedAt: 0, clock: .unverified, microphone: "file:talk.wav")
        let pass = try beginPass(recording: recording, engine: engine, profile: "live")
        for (index, text) in texts.enumerated() {
            let segment = segment(index + 1, at: Int64(index) * 100_000, text)
            try commit([segment], adaptation: nil, pass: pass, recording: recording)
        }
        return (recording, pass)
    }
}

/// Returns the error that `body` throws; nil if it throws none or another type of error.
func failure(of body: () async throws -> Void) async -> DeviceError? {
    do {
        try await body()
        return nil
    } catch {
        return error as? DeviceError
    }
}
