import Core

/// Follows all that happens: the journal gets it without a word of what was said, and the lamp shows what it should.
struct JournalService: Service {
    let name = "journal"
    let events: AsyncStream<Event>
    let recorder: Recorder
    let panel: PanelDesk
    let faults: FaultBoard
    let systemd: SystemdNotify

    func run() async {
        for await event in events { follow(event) }
    }

    private func follow(_ event: Event) {
        switch event {
        case .state(let state):
            Journal.tell(.information, "state", ["state": state.rawValue, "recording": recording])
            systemd.status(state.rawValue)
        case .fault(let code, let message): fault(code, message)
        case .gap(let recording, let gap):
            Journal.tell(
                .warning, "gap",
                [
                    "recording": "\(recording)", "start": "\(gap.range.start.seconds)",
                    "seconds": "\(gap.range.seconds)", "cause": gap.cause.rawValue,
                ])
        case .mark(let recording, let mark):
            Journal.tell(.information, "mark", ["recording": "\(recording)", "time": "\(mark.position.seconds)"])
        case .export(let state, let folder, let message): export(state, folder, message)
        case .level, .partial, .final, .rotation: break
        }
    }

    private var recording: String { recorder.live.map { "\($0.id)" } ?? "none" }

    private func fault(_ code: String, _ message: String) {
        // What keeps on failing is told once; the lamp shows it each time.
        if faults.take(code: code, message: message) {
            Journal.tell(.error, "fault", ["code": code, "message": message])
        }
        panel.tell(.fault)
        if recorder.state == .idle { recorder.show(.faulted, live: nil) }
    }

    private func export(_ state: Event.ExportState, _ folder: String, _ message: String) {
        Journal.tell(
            state == .failed ? .error : .information, "export",
            ["state": state.rawValue, "folder": folder, "message": message])
        switch state {
        case .started: panel.tell(.exporting(true))
        case .finished: panel.tell(.exported)
        case .failed:
            panel.tell(.exporting(false))
            // The status says what the lamp blinks for.
            fault("export", message)
        }
    }
}
