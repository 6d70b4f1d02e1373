/// Restarts the appliance after a change of settings, once nothing is being recorded or copied to a stick.
struct SettingsService: Service {
    let name = "settings"
    let recorder: Recorder
    let changes: AsyncStream<Void>
    let restart: @Sendable () -> Void

    func run() async throws {
        for await _ in changes {
            while await !recorder.prepareForRestart() { try await Task.sleep(for: .seconds(1)) }
            restart()
            break
        }
        await waitUntilCancelled()
    }
}
