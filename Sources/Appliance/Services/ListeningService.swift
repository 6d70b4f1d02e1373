import Audio
import Core
import Settings

/// Keeps the microphone open while idle if the configuration has a pre-roll.
struct ListeningService: Service {
    let name = "microphone"
    let recorder: Recorder

    func run() async throws {
        guard recorder.configuration.capture.prerollSeconds > 0 else { return await untilCancelled() }
        let microphone = try recorder.microphone.get()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await microphone.run() }
            group.addTask { try await report(failuresOf: microphone) }
            try await group.next()
            group.cancelAll()
        }
    }

    /// Reports each failure once. While idle, nobody would notice that the microphone was disconnected.
    private func report(failuresOf microphone: PrerollMicrophone) async throws {
        var reported: DeviceError?
        while true {
            try await Task.sleep(for: .seconds(2))
            let failure = microphone.failure
            if let failure, failure != reported { recorder.hub.publish(fault: failure) }
            reported = failure
        }
    }
}
