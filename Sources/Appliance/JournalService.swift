import Platform

/// Writes the journal: a reader that takes nothing holds up nobody but this.
struct JournalService: Service {
    let name = "journal"
    let recorder: Recorder
    let systemd: SystemdNotify

    func run() async {
        for await line in recorder.journal {
            Journal.tell(line)
            if let state = line.state { systemd.status(state.rawValue) }
        }
    }
}
