import Core
import FoundationEssentials
import Glibc
import System

/// The worker's side of the protocol, which reads frames and writes JSON lines until the input ends.
///
/// It runs in its own process, so that a crash or a leak of the engine cannot harm the recording.
package struct DecodeWorker: ~Copyable {
    private let input: FileDescriptor
    private let output: FileDescriptor
    private var reportedCPUSeconds = 0.0
    private var payload: [UInt8] = []
    private var samples: [Int16] = []

    package init(input: consuming FileDescriptor, output: consuming FileDescriptor) {
        self.input = input
        self.output = output
    }

    /// Loads the engine, reports that it is ready, and serves until the input ends.
    ///
    /// - Parameter copies: the number of copies to fork once the engine is loaded. Each copy serves on its own pipes
    ///   and also returns from this call; it has only the calling thread.
    /// - Throws: `DeviceError` if the engine cannot be loaded, after reporting it to the parent; also after a
    ///   protocol error.
    package mutating func serve(_ provider: any RecognizerProvider, copies: Int = 0) throws {
        let recognizer: any Recognizer
        do {
            recognizer = try provider.open()
        } catch {
            try reply(.init(error: .init(error)))
            throw error
        }
        if let copyIDs = ProcessCopies.make(copies) {
            try reply(.init(ready: recognizer.engine, copies: copyIDs.isEmpty ? nil : copyIDs))
        }
        while let kind = try readFrame() {
            guard kind == .request else { throw unexpected(kind) }
            let request = try decodedJSON(WorkerProtocol.Request.self, from: payload)
            do {
                try request.partials ? servePartials(request, recognizer) : serveUtterance(request, recognizer)
            } catch let error as DeviceError where error.cause != .workerProtocol {
                try reply(.init(error: .init(error)))
            }
        }
    }

    private mutating func serveUtterance(_ request: WorkerProtocol.Request, _ recognizer: any Recognizer) throws {
        if request.survey == true { return try survey(request, recognizer) }
        guard let recognizer = recognizer as? any Adaptation else {
            try readAll()
            // The next utterance does not depend on the result of this one, so the parent may start it now.
            try reply(.init(heard: true))
            let options = RecognitionOptions(alternatives: request.alternatives, parts: request.parts ?? [])
            return try sendResult(samples.withUnsafeBufferPointer { try recognizer.recognize($0, options: options) })
        }
        var failure: DeviceError?
        do throws(DeviceError) { try recognizer.begin(from: request.adaptation) } catch { failure = error }
        samples.removeAll(keepingCapacity: true)
        // Even after an error, read to the end of the utterance, because only then does the next request follow.
        while try readAudio() {
            defer { samples.removeAll(keepingCapacity: true) }
            guard failure == nil else { continue }
            do throws(DeviceError) {
                try rethrowing { try samples.withUnsafeBufferPointer { try recognizer.append($0) } }
                while !hasInput, try recognizer.search() {}
            } catch { failure = error }
        }
        if let failure { throw failure }
        if let state = try recognizer.close() { try reply(.init(adaptation: state)) }
        try sendResult(recognizer.finish(alternatives: request.alternatives))
    }

    private mutating func sendResult(_ hypothesis: Hypothesis) throws {
        try reply(.init(result: .init(hypothesis, cpuSeconds: cpuSinceReport())))
    }

    private mutating func survey(_ request: WorkerProtocol.Request, _ recognizer: any Recognizer) throws {
        try readAll()
        if let recognizer = recognizer as? any Adaptation,
            let state = try samples.withUnsafeBufferPointer({ try recognizer.survey($0, into: request.adaptation) })
        {
            try reply(.init(adaptation: state, candidates: recognizer.candidates))
        }
        try reply(.init(result: .init(words: [], alternatives: [], cpuSeconds: cpuSinceReport())))
    }

    /// Whether the parent has sent more data or closed the pipe.
    private var hasInput: Bool {
        var input = pollfd(fd: input.number, events: Int16(POLLIN), revents: 0)
        return poll(&input, 1, 0) > 0
    }

    private mutating func cpuSinceReport() -> Double {
        let before = reportedCPUSeconds
        reportedCPUSeconds = MonotonicClock.processSeconds
        return reportedCPUSeconds - before
    }

    private mutating func servePartials(_ request: WorkerProtocol.Request, _ recognizer: any Recognizer) throws {
        let recognizer = recognizer as? any PartialRecognizer
        try recognizer?.beginPartials(from: request.adaptation)
        samples.removeAll(keepingCapacity: true)
        while try readAudio() {
            let text = try samples.withUnsafeBufferPointer { try recognizer?.partial(after: $0) }
            samples.removeAll(keepingCapacity: true)
            try reply(.init(partial: text ?? ""))
        }
        try recognizer?.endPartials()
        try reply(.init(done: true))
    }

    /// Reads a whole utterance into `samples`.
    private mutating func readAll() throws {
        samples.removeAll(keepingCapacity: true)
        while try readAudio() {}
    }

    /// Appends the next audio frame to `samples`; returns false at the end of the utterance.
    private mutating func readAudio() throws -> Bool {
        switch try readFrame() {
        case .audio:
            payload.withUnsafeBytes { bytes in
                bytes.withMemoryRebound(to: Int16.self) { samples.append(contentsOf: $0) }
            }
            return true
        case .end: return false
        case let other: throw unexpected(other)
        }
    }

    /// Reads a frame into `payload`; returns nil if the input ended between frames.
    private mutating func readFrame() throws -> WorkerProtocol.Frame? {
        var header = [UInt8](repeating: 0, count: 5)
        guard try Self.fill(&header, from: input.number, allowsEnd: true) else { return nil }
        let length = header[1...4].reversed().reduce(0) { $0 << 8 | Int($1) }
        guard let kind = WorkerProtocol.Frame(rawValue: header[0]), length <= WorkerProtocol.maximumFrameBytes else {
            throw DeviceError(
                .failed, "decode-worker", cause: .workerProtocol,
                "the decode worker received an unknown frame; it will be restarted")
        }
        payload = [UInt8](repeating: 0, count: length)
        _ = try Self.fill(&payload, from: input.number, allowsEnd: false)
        return kind
    }

    private static func fill(_ bytes: inout [UInt8], from input: Int32, allowsEnd: Bool) throws -> Bool {
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeMutableBytes { bytes in
                uninterrupted { Glibc.read(input, bytes.baseAddress.map { $0 + done }, bytes.count - done) }
            }
            if count == 0, done == 0, allowsEnd { return false }
            guard count > 0 else {
                throw DeviceError(
                    .disconnected, "decode-worker", cause: .workerProtocol, "the decode worker's input ended")
            }
            done += count
        }
        return true
    }

    private func reply(_ reply: WorkerProtocol.Reply) throws {
        var line = try JSONEncoder().encode(reply)
        line.append(0x0A)
        try line.withUnsafeBytes { try output.write($0) }
    }

    private func unexpected(_ kind: WorkerProtocol.Frame?) -> DeviceError {
        DeviceError(
            kind == nil ? .disconnected : .failed, "decode-worker", cause: .workerProtocol,
            "the decode worker received "
                + "\(kind.map { "an unexpected \($0) frame" } ?? "an incomplete utterance"); it exits")
    }
}
