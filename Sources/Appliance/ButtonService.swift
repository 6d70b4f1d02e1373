import Core
import Glibc
import Panel
import Platform

/// Does what the button's presses mean.
struct ButtonService: Service {
    let name = "button"
    let panel: PanelDesk
    let recorder: Recorder

    func run() async {
        for await effect in panel.effects { await follow(effect) }
    }

    private func follow(_ effect: ButtonGesture.Effect) async {
        switch effect {
        case .pressed: break
        case .start: recorder.post(.start, reason: .button)
        case .stop: recorder.post(.stop, reason: .button)
        case .mark(let time): recorder.post(.mark(text: "", ago: PanelDesk.now - time), reason: .button)
        case .acknowledge:
            Journal.tell(.information, "acknowledged")
            if recorder.state == .faulted { recorder.show(.idle, live: nil) }
        case .stuck:
            fault("the button does not come up; check it for a short circuit. It is ignored until it is free")
        case .free: Journal.tell(.information, "button", ["state": "free"])
        case .shutDown: await shutDown()
        }
    }

    private func shutDown() async {
        Journal.tell(.notice, "shutdown", ["by": "button"])
        do {
            try await onThread(named: "poweroff") { try powerOff() }
        } catch { fault(DeviceError(wrapping: error).message) }
    }

    private func fault(_ message: String) { recorder.hub.publish(.fault(code: "panel", message: message)) }
}

/// Asks systemd to end everything, us included, and to switch the machine off.
private func powerOff() throws(DeviceError) {
    let words: [String] = ["systemctl", "--no-ask-password", "poweroff"]
    let arguments = words.map { strdup($0) }
    defer { arguments.forEach { free($0) } }
    var process = pid_t()
    let failure = posix_spawnp(&process, "systemctl", nil, nil, arguments + [nil], environ)
    guard failure == 0 else { throw .system("posix_spawn", status: failure, on: "systemctl") }
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    guard status == 0 else {
        throw DeviceError(
            .denied, "systemctl", "systemctl poweroff was refused; allow it by polkit, or set panel.shutdown = no")
    }
}
