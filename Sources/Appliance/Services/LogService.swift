import System

/// Writes the recorder's log. If journald blocks, only this service waits.
struct LogService: Service {
    let name = "log"
    let recorder: Recorder
    let systemd: SystemdNotify

    func run() async {
        for await line in recorder.log {
            Log.report(line)
            if let state = line.state { systemd.status(state.rawValue) }
        }
    }
}
