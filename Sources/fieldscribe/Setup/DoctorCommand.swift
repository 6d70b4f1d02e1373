import Appliance
import Core
import System

enum DoctorCommand: Command {
    static let name = "doctor"
    static let summary = "Check this machine and suggest remedies."
    static let help: [any HelpPart] = [
        """
        Checks microphone, panel, models, disk and board. It listens for 2 s, briefly uses the panel's lines, writes
        20 s of sound to the disk, and recognizes a sentence. Exit status: 0 all is well; 1 something failed; 3 a device,
        model or file is missing.
        """,
        Option.json("print one JSON object: findings, measurements, and the settings that suit this board"),
    ]

    private struct Report: Encodable {
        var version: String
        var board: String
        var findings: [DoctorFinding]
        var measurements: [String: Double]
        var exitStatus: Int32
    }

    static func run(_ arguments: Arguments) async throws {
        let examination = DoctorExamination(explicitPath: arguments[.config], environment: Arguments.environment)
        let facts = await examination.run { check in
            TerminalStatusLine.show("checking \(check.rawValue) ...")
        }
        TerminalStatusLine.clear()
        let findings = facts.findings
        if arguments[.json] {
            try Terminal.print(
                jsonText(
                    Report(
                        version: ProgramVersion.number, board: facts.board.name, findings: findings,
                        measurements: facts.measurements, exitStatus: findings.exitStatus)))
        } else {
            for finding in findings { try Terminal.print(text(finding)) }
        }
        if findings.exitStatus != 0 { throw ExitError(status: findings.exitStatus) }
    }

    private static func text(_ finding: DoctorFinding) -> String {
        let width = (DoctorFinding.Check.allCases.map { $0.rawValue.count }.max() ?? 0) + 2
        let status =
            switch finding.status {
            case .ok: "ok     "
            case .notice: "notice "
            case .failed: "FAILED "
            case .missing: "MISSING"
            }
        let indent = String(repeating: " ", count: 9 + width)
        let firstLine = "\(status)  \(finding.check.rawValue.padded(to: width))\(finding.message)\n"
        return firstLine + (finding.remedy.map { "\(indent)-> \($0)\n" } ?? "")
    }
}
