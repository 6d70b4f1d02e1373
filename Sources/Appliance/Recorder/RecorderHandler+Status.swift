import Copying
import Core
import FoundationEssentials
import Settings

extension RecorderHandler {
    func status() async throws -> ApplianceStatus {
        let snapshot = recorder.snapshot
        let live = snapshot.live
        var recordings: [RecordingSummary] = []
        do { recordings = try await recorder.archive.recordings() } catch {
            // If the storage folder was renamed, the status must still be available, because it reports that fault.
            guard (try? recorder.archive.checkLocation()) == nil else { throw error }
        }
        let position = live?.position ?? .zero
        let current = live.flatMap { live in recordings.last { $0.id == live.id } }
        let backlogSeconds = recordings.reduce(0.0) { sum, recording in
            let length = recording.id == live?.id ? position : recording.length
            return sum + max(0, length.seconds - recording.transcribedUpTo.seconds)
        }
        let storage = recorder.configuration.storage
        return ApplianceStatus(
            state: snapshot.state.rawValue, recording: live?.id, recordedSeconds: position.seconds,
            transcribedUpTo: current?.transcribedUpTo.seconds ?? 0, backlogSeconds: rounded(backlogSeconds),
            runwayHours: rounded(
                (try? recorder.configuration.reserve.runwayHours(
                    channels: recorder.configuration.capture.recordedChannels)) ?? 0),
            microphone: ApplianceStatus.Microphone(
                device: recorder.configuration.capture.device,
                health: health(live)),
            lastFault: snapshot.lastFault.map {
                ApplianceStatus.Fault(
                    code: $0.code, message: $0.message,
                    time: Date(timeIntervalSince1970: $0.moment.wallSeconds).ISO8601Format(),
                    clock: $0.moment.clock.rawValue)
            }, directory: storage.directory,
            secondPass: recorder.secondPass.now, laptop: recorder.configuration.usb.drive ? snapshot.hasLaptop : nil,
            signingKey: RecorderKey.publicKey(in: storage.directory),
            opened: recorder.opened.state.map {
                ApplianceStatus.Opened(recordings: $0.recordings, secondsLeft: rounded($0.secondsLeft))
            })
    }

    private func health(_ live: LiveRecording?) -> String {
        guard let live else { return recorder.configuration.capture.prerollSeconds > 0 ? "listening" : "closed" }
        return live.observer.faults.keys.sorted().first ?? "alive"
    }

    private func rounded(_ number: Double) -> Double { (number * 100).rounded() / 100 }
}
