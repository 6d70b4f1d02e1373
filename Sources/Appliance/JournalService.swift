import Platform

/// Writes the journal: a reader that takes nothing holds up nobody but this.
struct JournalService: Service {
    let name = "journal"
    let recorder: Recorder
    let systemd: SystemdNotify

    func run() async {
        for await line in recorder.journal {
            Log.tell(line.priority, line.event, pairs: line.pairs.map { ($0.key, $0.value) })
            if let state = line.state { systemd.status(state.rawValue) }
        }
    }
}
