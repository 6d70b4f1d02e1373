import Audio
import Core
import Settings

/// Keeps the microphone open while nothing is being recorded, if a pre-roll is configured.
struct ListeningService: Service {
    let name = "microphone"
    let recorder: Recorder

    func run() async throws {
        guard recorder.configuration.capture.prerollSeconds > 0 else { return await waitUntilCancelled() }
        let microphone = try recorder.microphone.get()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await microphone.run() }
            group.addTask { try await report(failuresOf: microphone) }
            try await group.next()
            group.cancelAll()
        }
    }

    /// Reports each failure once, so that a disconnected microphone is noticed before the next recording.
    private func report(failuresOf microphone: PrerollMicrophone) async throws {
        var reportedFailure: DeviceError?
        while true {
            try await Task.sleep(for: .seconds(2))
            let failure = microphone.failure
            if let failure, failure != reportedFailure { recorder.hub.publish(fault: failure) }
            reportedFailure = failure
        }
    }
}
