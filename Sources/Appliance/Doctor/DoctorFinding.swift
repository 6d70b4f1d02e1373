/// What the doctor has to say about one thing.
package struct DoctorFinding: Hashable, Sendable, Encodable {
    /// What was looked at, in the order in which it is reported.
    package enum Check: String, Sendable, CaseIterable, Encodable {
        case configuration, appliance, microphone, button, lamp, model, decoder, speakers, disk, copies, drive,
            permissions,
            clock,
            board, profile
    }

    /// How it is.
    package enum Status: String, Sendable, Encodable {
        case ok
        /// It works; it could be better.
        case notice
        case failed
        /// A device, model or file that is needed is not there.
        case missing
    }

    /// What was looked at.
    package var check: Check
    /// How it is.
    package var status: Status

    /// What was found, on one line.
    package var message: String

    /// What a person can do; nil where nothing is to be done.
    package var remedy: String?

    init(_ check: Check, _ status: Status, _ message: String, remedy: String? = nil) {
        self.check = check
        self.status = status
        self.message = message
        self.remedy = remedy
    }
}

extension [DoctorFinding] {
    /// 3 where something is missing, else 1 where something failed, else 0.
    package var exitStatus: Int32 {
        if contains(where: { $0.status == .missing }) { return 3 }
        return contains(where: { $0.status == .failed }) ? 1 : 0
    }
}
