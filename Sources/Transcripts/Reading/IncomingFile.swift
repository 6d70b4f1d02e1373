import Core
import FoundationEssentials

/// A file that somebody brought, as a confined process has read it. What it holds is checked, and bounded by the size of the message.
package struct IncomingFile: Sendable {
    /// How a file is to be read.
    package enum Kind: String, Sendable {
        /// As what a recording's page saves.
        case corrections
        /// As a transcript, whose format its ending tells.
        case text
        /// As a copy's `transcript.json`, and its page: only whether that can be read within the limits.
        case transcript, page

        /// - Parameter name: the file's.
        package init(named name: String) {
            self = ["json", "html"].contains(IncomingFile.ending(of: name)) ? .corrections : .text
        }
    }

    /// What a file says.
    package enum Content: Hashable, Sendable {
        /// What a recording's page saved.
        case corrections(CorrectionsFile)
        /// A transcript that was edited in another program.
        case text(WrittenText)
    }

    /// What the file says.
    package var content: Content
    /// Which recording the file says it is of; nil if it does not say so.
    package var identity: RecordingIdentity?

    private static func ending(of name: String) -> String {
        name.split(separator: ".").last.map { $0.lowercased() } ?? ""
    }

    /// Reads a file. For the confined process.
    ///
    /// - Parameter name: the file's; its ending tells the format of a text.
    /// - Throws: `DeviceError` in one line that names the file.
    init(_ bytes: [UInt8], as kind: Kind, name: String) throws(DeviceError) {
        let text = try incomingText(bytes, name: name)
        switch kind {
        case .corrections:
            let corrections = try CorrectionsFile(text, name: name)
            content = .corrections(corrections)
            identity = corrections.identity
        case .text:
            content = .text(try WrittenText(text, ending: Self.ending(of: name), name: name))
            identity = RecordingIdentity(in: text)
        case .transcript, .page:
            throw DeviceError(.unsupported, "read", on: name, "can only be checked")
        }
    }

    /// The line of JSON between the two processes.
    private struct Message: Codable {
        var corrections: String?
        var text: WrittenText?
        var identity: String?
        var failure: Failure?
    }

    private struct Failure: Codable {
        var code: String
        var operation: String
        var subject: String?
        var reason: String
        var remedy: String?
    }

    /// The answer of the confined process: what the file says, or why it cannot be read.
    package static func answer(to bytes: [UInt8], as kind: Kind, name: String) -> [UInt8] {
        var message = Message()
        do throws(DeviceError) {
            switch kind {
            case .transcript: _ = try TranscriptReading(bytes, name: name)
            case .page: _ = try PageReading(bytes, name: name)
            case .corrections, .text:
                let file = try IncomingFile(bytes, as: kind, name: name)
                switch file.content {
                case .corrections(let corrections): message.corrections = corrections.text
                case .text(let text):
                    message.text = text
                    message.identity = file.identity?.text
                }
            }
        } catch {
            message.failure = Failure(
                code: error.code.rawValue, operation: error.operation, subject: error.subject, reason: error.reason,
                remedy: error.remedy)
        }
        return (try? JSONEncoder().encode(message)).map(Array.init) ?? []
    }

    /// Throws what the confined process has found wrong.
    ///
    /// - Parameter name: the file's, for the error.
    /// - Throws: the `DeviceError` that it found, or `damaged` if this is not such an answer.
    package static func check(answer: [UInt8], name: String) throws(DeviceError) { _ = try message(answer, name) }

    private static func message(_ answer: [UInt8], _ name: String) throws(DeviceError) -> Message {
        guard let message = try? JSONDecoder().decode(Message.self, from: Data(answer)) else {
            throw DeviceError(.damaged, "read", on: name, "cannot be read", remedy: "nothing was changed")
        }
        guard let failure = message.failure else { return message }
        throw DeviceError(
            DeviceError.Code(rawValue: failure.code) ?? .damaged, failure.operation, on: failure.subject,
            failure.reason, remedy: failure.remedy)
    }

    /// What the confined process has answered.
    ///
    /// - Parameter name: the file's, for the error.
    /// - Throws: `DeviceError` that the process found, or with `damaged` if it is no such answer.
    package init(answer: [UInt8], name: String) throws(DeviceError) {
        let message = try Self.message(answer, name)
        if let corrections = message.corrections {
            let read = try CorrectionsFile(corrections, name: name)
            content = .corrections(read)
            identity = read.identity
        } else if let text = message.text {
            content = .text(text)
            identity = message.identity.flatMap { RecordingIdentity(in: $0) }
        } else {
            throw DeviceError(.damaged, "read", on: name, "cannot be read", remedy: "nothing was changed")
        }
    }
}
