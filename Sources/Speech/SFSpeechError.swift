import Core

/// A recognition error with a one-line message: what failed, why and, if possible, what to do.
public struct SFSpeechError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure.
    public enum Code: String, Hashable, Sendable {
        /// No model for the locale is installed, or one of the model's files is missing.
        case noModel
        /// A model, or the runtime that it needs, is damaged or cannot be loaded.
        case cannotLoadModel
        /// An audio file cannot be read.
        case audioReadFailed
        /// A microphone is missing, busy, or not accessible.
        case microphoneUnavailable
        /// Audio with this sample rate or number of channels cannot be converted.
        case unexpectedAudioFormat
        /// A buffer starts before the end of the previous one.
        case audioDisordered
        /// The vocabulary or language model cannot be used.
        case malformedSupplementalModel
        /// The analyzer or task has finished, or the call is not allowed in its current state.
        case invalidState
        /// The engine failed.
        case internalServiceError
        /// The task was cancelled.
        case canceled
    }

    /// The kind of failure.
    public let code: Code
    /// One line: what failed, why and, if possible, what to do.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The message.
    public var description: String { message }

    /// The message, for code that was written for Apple's errors.
    public var localizedDescription: String { message }
}

extension SFSpeechError {
    /// Converts an error from other modules. `code` is used if the error does not determine the code.
    init(_ error: any Error, orElse code: Code = .internalServiceError) {
        switch error {
        case let error as SFSpeechError: self = error
        case let error as DeviceError: self.init(Self.code(of: error, orElse: code), error.message)
        case is CancellationError: self.init(.canceled, "the task was cancelled")
        default: self.init(code, "\(error)")
        }
    }

    private static func code(of error: DeviceError, orElse code: Code) -> Code {
        switch (error.operation, error.code) {
        case ("append", .damaged): .audioDisordered
        case ("vocabulary", _): .malformedSupplementalModel
        case ("soxr_create", _), ("convert", _): .unexpectedAudioFormat
        default: code
        }
    }

    /// Converts an error from an engine.
    static func ofEngine(_ error: any Error) -> SFSpeechError {
        let code = (error as? DeviceError)?.code
        return SFSpeechError(
            error,
            orElse: code == .missing || code == .denied
                ? .noModel : code == .damaged || code == .unsupported ? .cannotLoadModel : .internalServiceError)
    }
}
