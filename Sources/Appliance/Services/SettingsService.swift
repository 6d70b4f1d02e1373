/// Has the appliance put together anew once somebody has brought other settings: between recordings, and not while a stick is being
/// copied to.
struct SettingsService: Service {
    let name = "settings"
    let recorder: Recorder

    /// Brings something for each change.
    let changes: AsyncStream<Void>

    /// Ends the appliance, in order to be put together anew.
    let renew: @Sendable () -> Void

    func run() async throws {
        for await _ in changes {
            while await !recorder.prepareForRestart() { try await Task.sleep(for: .seconds(1)) }
            renew()
            break
        }
        await untilCancelled()
    }
}
