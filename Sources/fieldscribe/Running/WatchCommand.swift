import Appliance
import Core
@preconcurrency import Dispatch
import Glibc
import Synchronization
import System

enum WatchCommand: Command {
    static let name = "watch"
    static let summary = "Show the transcript live, as people speak."
    static let help: [any HelpPart] = [
        """
        On a terminal, final text is plain; text that may still change is dimmed and replaced in place. Ctrl-C stops
        this command, not the recording. Without a terminal, it prints only final text.
        """,
        Option.json("print one event per line, including partial results and levels"),
    ]

    static func run(_ arguments: Arguments) async throws {
        let isJSON = arguments[.json]
        let appliance = try arguments.appliance()
        try appliance.send(.watch(partials: isJSON || Terminal.showsOutput))
        if isJSON || !Terminal.showsOutput {
            Interrupts.handle { _ in exit(130) }
            while let line = try appliance.nextLine() {
                let text = String(decoding: line, as: UTF8.self)
                if isJSON {
                    try Terminal.print(text + "\n")
                } else if let event = WatchEvent(text), let line = event.plainLine {
                    try Terminal.print(line + "\n")
                }
            }
        } else {
            try await show(appliance, statusClient: try arguments.appliance())
        }
        Terminal.say("fieldscribe: the appliance has stopped")
        throw ExitError(status: 5)
    }

    private static func show(_ appliance: ControlClient, statusClient: ControlClient) async throws {
        let view = Mutex(WatchView(width: Terminal.outputWidth, isStyled: Terminal.stylesOutput))
        let draw = { @Sendable (change: (inout WatchView) -> String) in
            view.withLock { view in try? Terminal.paint(change(&view)) }
        }
        Interrupts.handle { _ in
            draw { $0.close() }
            exit(130)
        }
        let resizes = DispatchSource.makeSignalSource(signal: SIGWINCH, queue: DispatchQueue(label: "resizes"))
        resizes.setEventHandler { draw { $0.resize(to: Terminal.outputWidth) } }
        resizes.resume()
        defer { resizes.cancel() }
        try Terminal.paint(WatchView.opening)
        defer { draw { $0.close() } }
        // Each loop blocks until the appliance answers, so each needs its own thread.
        async let ticks: Void = onThread(named: "status") {
            while let status = try? statusClient.status() {
                draw { $0.apply(status) }
                sleep(1)
            }
        }
        try await onThread(named: "events") {
            while let line = try appliance.nextLine() {
                guard let event = WatchEvent(String(decoding: line, as: UTF8.self)) else { continue }
                draw { $0.apply(event) }
            }
        }
        try await ticks
    }
}
