/// The result of a check.
package struct DoctorFinding: Hashable, Sendable, Encodable {
    /// The checks, in the order of the report.
    package enum Check: String, Sendable, CaseIterable, Encodable {
        case configuration, appliance, microphone, button, lamp, model, decoder, speakers, disk, copies, drive,
            permissions, clock, board, profile
    }

    /// The outcome of a check.
    package enum Status: String, Sendable, Encodable {
        case ok
        /// The checked part works, but could be improved.
        case notice
        case failed
        /// A required device, model or file is missing.
        case missing
    }

    package var check: Check
    package var status: Status
    package var message: String
    /// What the user can do; nil if there is nothing to do.
    package var remedy: String?

    init(_ check: Check, _ status: Status, _ message: String, remedy: String? = nil) {
        self.check = check
        self.status = status
        self.message = message
        self.remedy = remedy
    }
}

extension [DoctorFinding] {
    /// The exit status: 3 if something is missing, otherwise 1 if something failed, otherwise 0.
    package var exitStatus: Int32 {
        if contains(where: { $0.status == .missing }) { return 3 }
        return contains(where: { $0.status == .failed }) ? 1 : 0
    }
}

extension Double {
    /// The number, rounded to one decimal place; `-` if it is not finite or too large.
    var oneDecimal: String {
        guard isFinite, abs(self) < 1e12 else { return "-" }
        let tenths = Int((abs(self) * 10).rounded())
        return "\(self < 0 && tenths > 0 ? "-" : "")\(tenths / 10).\(tenths % 10)"
    }
}
