import Core
import FoundationEssentials

/// An untrusted file that a sandboxed process parsed. Its content is validated.
package struct IncomingFile: Sendable {
    /// The kind of file, which decides how it is parsed.
    package enum Kind: String, Sendable {
        case corrections
        /// An edited transcript. The file extension names the format.
        case text
        /// A copy's `transcript.json` and its page, which are only validated.
        case transcript, page

        /// - Parameter name: The file's name.
        package init(named name: String) {
            self = ["json", "html"].contains(IncomingFile.lowercasedExtension(of: name)) ? .corrections : .text
        }
    }

    /// The parsed content of a file.
    package enum Content: Hashable, Sendable {
        case corrections(CorrectionsFile)
        case text(EditedTranscript)
    }

    package var content: Content
    /// The recording that the file names; nil if it names none.
    package var identity: RecordingIdentity?

    private static func lowercasedExtension(of name: String) -> String {
        name.split(separator: ".").last.map { $0.lowercased() } ?? ""
    }

    /// Parses a file in the sandboxed process.
    ///
    /// - Parameter name: The file's name. Its extension names the format of an edited transcript.
    /// - Throws: `DeviceError` with a message of one line that names the file.
    init(_ bytes: [UInt8], as kind: Kind, name: String) throws(DeviceError) {
        let text = try incomingText(bytes, name: name)
        switch kind {
        case .corrections:
            let corrections = try CorrectionsFile(text, name: name)
            content = .corrections(corrections)
            identity = corrections.identity
        case .text:
            content = .text(try EditedTranscript(text, fileExtension: Self.lowercasedExtension(of: name), name: name))
            identity = RecordingIdentity(in: text)
        case .transcript, .page:
            throw DeviceError(.unsupported, "read", on: name, "can only be validated")
        }
    }

    /// The sandboxed process's answer in JSON.
    private struct Message: Codable {
        var corrections: String?
        var text: EditedTranscript?
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

    /// Returns the sandboxed process's answer: the content or the error. A file that is only validated has no content.
    package static func answer(to bytes: [UInt8], as kind: Kind, name: String) -> [UInt8] {
        var message = Message()
        do throws(DeviceError) {
            switch kind {
            case .transcript: _ = try ParsedTranscript(bytes, name: name)
            case .page: _ = try ParsedPage(bytes, name: name)
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

    /// Throws the error in the sandboxed process's answer, if there is one.
    ///
    /// - Parameter name: The file's name for errors.
    /// - Throws: The `DeviceError` in the answer, or `damaged` if the answer is invalid.
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

    /// Parses the sandboxed process's answer.
    ///
    /// - Parameter name: The file's name for errors.
    /// - Throws: The `DeviceError` in the answer, or `damaged` if the answer is invalid.
    package init(answer: [UInt8], name: String) throws(DeviceError) {
        let message = try Self.message(answer, name)
        if let corrections = message.corrections {
            let file = try CorrectionsFile(corrections, name: name)
            content = .corrections(file)
            identity = file.identity
        } else if let text = message.text {
            content = .text(text)
            identity = message.identity.flatMap { RecordingIdentity(in: $0) }
        } else {
            throw DeviceError(.damaged, "read", on: name, "cannot be read", remedy: "nothing was changed")
        }
    }
}

/// Decodes a text file in UTF-8 or, with a byte order mark, in UTF-16, which Praat and spreadsheets write.
///
/// - Parameter name: The file's name for errors.
/// - Throws: `DeviceError` with `damaged` if the file is neither.
package func incomingText(_ bytes: [UInt8], name: String) throws(DeviceError) -> String {
    let isBigEndian = bytes.starts(with: [0xFE, 0xFF])
    if isBigEndian || bytes.starts(with: [0xFF, 0xFE]) {
        let pairs = stride(from: 2, to: bytes.count - 1, by: 2).map { index in
            let (first, second) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
            return isBigEndian ? first << 8 | second : second << 8 | first
        }
        if let text = String(validating: pairs, as: UTF16.self) { return text }
    } else if let text = String(
        validating: bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes, as: UTF8.self)
    {
        return text
    }
    throw DeviceError(
        .damaged, "import", on: name, "is not text in UTF-8 or UTF-16", remedy: "save it as UTF-8; nothing was changed")
}
