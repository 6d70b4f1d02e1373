import Glibc
import Synchronization

@testable import Audio
@testable import Core
@testable import System

/// A sink that keeps all reports in order, and calls a closure for each.
final class RecordingLog: RecordingSink {
    enum Entry: Hashable, Sendable {
        case written(Int64)
        case synced(Int64)
        case level(rms: Double, peak: Double)
        case lost(Gap)
        case fault(String)
        case recovered(String)
        case closed(Int64, StopReason)
    }

    let wantsLevel: Bool

    /// The messages of the faults, in order.
    var messages: [String] { faultMessages.withLock { $0 } }
    private let faultMessages = Mutex<[String]>([])

    private let log = Mutex<[Entry]>([])
    private let perform: @Sendable (Entry) -> Void

    init(wantsLevel: Bool = false, _ perform: @escaping @Sendable (Entry) -> Void = { _ in }) {
        self.wantsLevel = wantsLevel
        self.perform = perform
    }

    var entries: [Entry] { log.withLock { $0 } }

    func written(upTo position: SamplePosition) { add(.written(position.samples)) }
    func synced(upTo position: SamplePosition) { add(.synced(position.samples)) }
    func level(rms: Double, peak: Double) { add(.level(rms: rms, peak: peak)) }
    func lost(_ gap: Gap) { add(.lost(gap)) }
    func fault(code: String, message: String) {
        faultMessages.withLock { $0.append(message) }
        add(.fault(code))
    }
    func recovered(code: String) { add(.recovered(code)) }
    func closed(at position: SamplePosition, reason: StopReason) { add(.closed(position.samples, reason)) }

    private func add(_ entry: Entry) {
        log.withLock { $0.append(entry) }
        perform(entry)
    }
}

/// A session and its target file.
struct ScriptedRecording {
    let session: RecordingSession
    let path: String
    let sink: any RecordingSink

    init(
        microphone: any MicrophoneProvider, path: String, settings: RecordingSession.Settings = .init(),
        sink: any RecordingSink
    ) {
        session = RecordingSession(microphone: microphone, settings: settings)
        (self.path, self.sink) = (path, sink)
    }

    func run() async throws -> RecordingResult { try await session.record(to: path, sink: sink) }
}

/// A sink that forwards progress.
struct ProgressSink: RecordingSink {
    let progress: RecordingProgress

    func written(upTo position: SamplePosition) { progress.written(upTo: position) }
    func closed(at position: SamplePosition, reason: StopReason) { progress.end(at: position) }
}

/// Returns all samples of a recording.
func samples(of path: String) throws -> [Int16] {
    let reader = try RecordingReader(path: path)
    return try samples(of: reader, at: .zero, count: Int(reader.length.samples))
}

/// Returns the samples of a recording from a position on, at most `count`.
func samples(of reader: RecordingReader, at position: SamplePosition, count: Int) throws -> [Int16] {
    try [Int16](unsafeUninitializedCapacity: count) { buffer, initializedCount in
        initializedCount = try reader.read(at: position, into: UnsafeMutableBufferPointer(rebasing: buffer[..<count]))
    }
}

func gap(_ start: Int64, _ end: Int64, _ cause: Gap.Cause) -> Gap {
    Gap(SampleRange(SamplePosition(start), SamplePosition(end)), cause: cause)
}

extension WaveFile {
    func append(_ samples: [Int16]) throws {
        try samples.withUnsafeBufferPointer { samples in try append(samples) }
    }
}

/// Runs a command. Returns its output, including standard error, and its exit status.
func shell(_ command: String) -> (output: String, status: Int32) {
    guard let stream = popen("\(command) 2>&1", "r") else { return ("", -1) }
    var output: [UInt8] = []
    var byte = fgetc(stream)
    while byte != EOF {
        output.append(UInt8(truncatingIfNeeded: byte))
        byte = fgetc(stream)
    }
    let status = pclose(stream)
    while output.last == 10 { output.removeLast() }
    return (String(decoding: output, as: UTF8.self), status)
}

/// Gives scripted microphones and sinks access to the session, for example to stop it.
final class SessionHolder: Sendable {
    let session = Mutex<RecordingSession?>(nil)

    func stop() { session.withLock { $0 }?.stop(reason: .button) }
}

/// The reports to a sink that turned out to be false.
final class FalseReports: Sendable {
    let entries = Mutex<[RecordingLog.Entry]>([])

    func add(_ entry: RecordingLog.Entry) { entries.withLock { $0.append(entry) } }
}

extension WaveLayout {
    init(of path: String) throws { self = try WaveLayout(of: FileDescriptor(opening: path, O_RDONLY)) }
}
