import Core
import Settings

// Findings about signatures, encryption, sticks and the drive for laptops.
extension DoctorFacts {
    var copiesFindings: [DoctorFinding] {
        signingFindings + sealingFindings
    }

    private var signingFindings: [DoctorFinding] {
        switch signing {
        case nil: []
        case .failure(let error):
            [
                .init(
                    .copies, .notice,
                    "not signed: \(error.reason); nobody can prove that a copy is unaltered",
                    remedy: error.remedy)
            ]
        case .success(nil): [.init(.copies, .ok, "signed; the key is created at the first start")]
        case .success(let key?): [.init(.copies, .ok, "signed; the recorder's public key is \(key)")]
        }
    }

    private var sealingFindings: [DoctorFinding] {
        let finding: DoctorFinding
        switch sealing {
        case nil: return []
        case .failure(let error): finding = DoctorFinding(.copies, error: error)
        case .success(0): finding = unencryptedFinding
        case .success(let count):
            finding = DoctorFinding(
                .copies, .ok,
                "encrypted for \(keys(count)); to test a private key: fieldscribe recipients check --key FILE")
        }
        return [finding] + sticksFindings + recorderSealingFindings
    }

    private func keys(_ count: Int) -> String { counted(count, "public key", "public keys") }

    private var openedFindings: [DoctorFinding] {
        guard let opened else { return [] }
        let count = opened.recordings.count
        let recordings = counted(count, "sealed recording", "sealed recordings")
        let minutes = Int((opened.secondsLeft.within(0...1e6) / 60).rounded(.up))
        return [
            .init(
                .copies, .notice, "a private key has opened \(recordings) for another \(minutes) min",
                remedy: "run fieldscribe lock when they are no longer needed")
        ]
    }

    /// The findings about encryption on the recorder itself, and about text that is not encrypted there.
    private var recorderSealingFindings: [DoctorFinding] {
        let asideFindings = damagedDatabases.map {
            DoctorFinding(
                .copies, .notice,
                "\($0): a damaged database that was set aside may still contain readable text of sealed recordings",
                remedy: "remove it when you no longer need it")
        }
        switch recorderSealing {
        case nil: return openedFindings
        case .failure(let error): return [DoctorFinding(.copies, error: error)] + openedFindings + asideFindings
        case .success(let count):
            return openedFindings + [
                .init(
                    .copies, .ok,
                    "recordings on the recorder are encrypted for \(keys(count)) once they are transcribed")
            ] + asideFindings
        }
    }

    private var unencryptedFinding: DoctorFinding {
        let risk =
            configuration.export.sticks == .any
            ? "anyone who plugs in a stick gets every recording, and anyone who finds it can read them"
            : "anyone who finds a stick can read the recordings on it"
        return .init(
            .copies, .notice, "not encrypted: \(risk)",
            remedy: "to encrypt them, set export.recipients to the public keys of those who may read them")
    }

    private var sticksFindings: [DoctorFinding] {
        switch configuration.export.sticks {
        case .any: return []
        case .none: return [.init(.copies, .ok, "not made on sticks (export.sticks is none)")]
        case .known: break
        }
        switch allowedSticks {
        case nil: return []
        case .failure(let error): return [DoctorFinding(.copies, error: error)]
        case .success(0):
            return [
                .init(
                    .copies, .notice, "made only on allowed sticks; no stick is allowed, so nothing is copied",
                    remedy: "run sudo fieldscribe stick allow while the stick is plugged in")
            ]
        case .success(let count):
            return [.init(.copies, .ok, "made only on \(counted(count, "allowed stick", "allowed sticks"))")]
        }
    }

    var driveFindings: [DoctorFinding] {
        switch drivePorts {
        case nil: return []
        case .failure(let error): return [DoctorFinding(.drive, error: error)]
        case .success(let ports):
            guard let port = ports.first else {
                return [
                    .init(
                        .drive, .missing, "no USB port of this board can act as a drive for a laptop",
                        remedy:
                            "on a Raspberry Pi 4, 5 or Zero 2 W, add dtoverlay=dwc2,dr_mode=peripheral to config.txt and "
                            + "restart; on another board, set usb.drive = no")
                ]
            }
            return [.init(.drive, .ok, "a laptop connected to the port \(port) sees the recordings, read-only")]
        }
    }
}
