import Core
import FoundationEssentials
import Glibc
import Platform

extension ControlDesk {
    /// How the appliance is doing.
    func status() async throws -> ApplianceStatus {
        let (state, live) = (recorder.state, recorder.live)
        let recordings = try await recorder.archive.recordings()
        let position = live?.position ?? .zero
        let own = live.flatMap { live in recordings.last { $0.id == live.id } }
        let backlog = recordings.reduce(0.0) { sum, recording in
            let length = recording.id == live?.id ? position : recording.length
            return sum + max(0, length.seconds - recording.transcribedUpTo.seconds)
        }
        let storage = recorder.configuration.storage
        return ApplianceStatus(
            state: state.rawValue, recording: live?.id, recordedSeconds: position.seconds,
            transcribedUpTo: own?.transcribedUpTo.seconds ?? 0, backlogSeconds: rounded(backlog),
            runwayHours: rounded(runwayHours(of: storage)),
            microphone: ApplianceStatus.Microphone(
                device: recorder.configuration.capture.device,
                health: live == nil ? "closed" : panel.isFaulted ? "silent" : "alive"),
            lastFault: faults.fault.map {
                ApplianceStatus.Fault(
                    code: $0.code, message: $0.message,
                    time: Date(timeIntervalSince1970: $0.time).ISO8601Format(), clock: $0.clock.rawValue)
            }, directory: storage.directory)
    }

    /// Seam: the write path brings its own sum of this.
    private func runwayHours(of storage: Configuration.Storage) -> Double {
        var disk = statvfs()
        guard statvfs(storage.directory, &disk) == 0 else { return 0 }
        let free = Double(disk.f_bavail) * Double(disk.f_frsize) - Double(storage.reserveMegabytes) * 1e6
        return max(0, free) / Double(2 * SamplePosition.rate) / 3_600
    }

    private func rounded(_ number: Double) -> Double { (number * 100).rounded() / 100 }
}
