import Audio
import Core
import Settings

/// Keeps the microphone open while idle, where the configuration wants the seconds before the press.
struct ListeningService: Service {
    let name = "microphone"
    let recorder: Recorder

    func run() async throws {
        guard recorder.configuration.capture.prerollSeconds > 0 else { return await untilCancelled() }
        let microphone = try recorder.microphone.get()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await microphone.run() }
            group.addTask { try await tell(of: microphone) }
            try await group.next()
            group.cancelAll()
        }
    }

    /// Tells once of each failure to listen: nobody would miss a microphone that is gone before the press.
    private func tell(of microphone: PrerollMicrophone) async throws {
        var told: DeviceError?
        while true {
            try await Task.sleep(for: .seconds(2))
            let failure = microphone.failure
            if let failure, failure != told {
                recorder.hub.publish(fault: failure)
            }
            told = failure
        }
    }
}
