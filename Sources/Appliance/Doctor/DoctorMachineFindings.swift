import Core
import Settings

// Findings about the machine itself.
extension DoctorFacts {
    var diskFindings: [DoctorFinding] {
        switch disk {
        case .failure(let error):
            var finding = DoctorFinding(.disk, error: error)
            if error.code == .denied {
                finding.remedy =
                    "run sudo fieldscribe doctor, or set storage.directory to a folder of your own"
            }
            return [finding]
        case .success(let disk): return [spaceFinding(on: disk), syncFinding(of: disk)] + privacyFindings(of: disk)
        }
    }

    private func privacyFindings(of disk: Disk) -> [DoctorFinding] {
        if disk.readable.isEmpty { return [] }
        return [
            .init(
                .disk, .notice,
                "\(disk.directory): other users of this machine can read \(disk.readable.joined(separator: ", "))",
                remedy: "chmod -R go= \(disk.directory)")
        ]
    }

    /// Returns the hours of audio until the reserve is reached, at 32,000 bytes per second and channel.
    func runwayHours(on disk: Disk) -> Double {
        let reserve = Double(configuration.storage.reserveMegabytes) * 1_000_000
        return max(0, disk.freeBytes - reserve) / 32_000 / Double(configuration.capture.recordedChannels) / 3_600
    }

    private func spaceFinding(on disk: Disk) -> DoctorFinding {
        let hours = runwayHours(on: disk)
        let megabytes = Int(disk.freeBytes / 1_000_000)
        if hours <= 0 {
            return .init(
                .disk, .failed,
                "\(disk.directory): \(megabytes) MB are free, and \(configuration.storage.reserveMegabytes) MB are reserved",
                remedy: "export recordings and delete them (fieldscribe export, fieldscribe delete)")
        }
        let message = "\(disk.directory): space for \(hours.oneDecimal) hours (\(megabytes) MB free)"
        return hours >= 8
            ? .init(.disk, .ok, message)
            : .init(
                .disk, .notice, message,
                remedy: "export recordings and delete them before a long day of recording")
    }

    private func syncFinding(of disk: Disk) -> DoctorFinding {
        let (median, worst) = ((disk.medianSeconds * 1_000).oneDecimal, (disk.worstSeconds * 1_000).oneDecimal)
        let message = "a second of sound reaches the disk after \(median) ms (median), \(worst) ms (worst)"
        // If most syncs take longer than the interval between them, the disk cannot keep up.
        if disk.medianSeconds > configuration.capture.syncSeconds {
            return .init(.disk, .failed, "\(message): slower than real time", remedy: "use another card (A1 or A2)")
        }
        return disk.worstSeconds > 2
            ? .init(.disk, .notice, message, remedy: "the card sometimes stalls; keep a better one (A1 or A2) ready")
            : .init(.disk, .ok, message)
    }

    var permissionFindings: [DoctorFinding] {
        let user = permissions.user
        var findings = permissions.unknownGroups.map {
            DoctorFinding(
                .permissions, .failed, "the group \($0) does not exist",
                remedy: "install Fieldscribe's udev rules and groups: deploy/install, or the package")
        }
        if !permissions.missingGroups.isEmpty {
            let groups = permissions.missingGroups.joined(separator: ",")
            findings.append(
                .init(
                    .permissions, .failed, "\(user) does not belong to: \(groups)",
                    remedy: "sudo usermod --append --groups \(groups) \(user), then log in again or restart the service"
                ))
        }
        if !findings.isEmpty { return findings }
        let message = permissions.isRoot ? "root has every permission" : "\(user) is in all required groups"
        return permissions.isServiceUser
            ? [.init(.permissions, .ok, message)]
            : [
                .init(
                    .permissions, .notice, "\(message); the user fieldscribe does not exist",
                    remedy: "to run as a service: deploy/install, or the package")
            ]
    }

    var boardFindings: [DoctorFinding] {
        var findings: [DoctorFinding] = []
        let size = "\(board.name): \(board.cores) cores, \(board.memoryMegabytes) MB"
        if board.isUndervolted == true {
            findings.append(
                .init(
                    .board, .failed, "the supply voltage is or was too low",
                    remedy: "use the board's own power supply and a short, thick cable"))
        }
        switch board.temperature {
        case let degrees? where degrees >= 80:
            findings.append(
                .init(
                    .board, .notice, "\(size), \(degrees.oneDecimal) degrees Celsius: the processor is throttled",
                    remedy: "improve the airflow, or add a heat sink"))
        case let degrees?: findings.append(.init(.board, .ok, "\(size), \(degrees.oneDecimal) degrees Celsius"))
        case nil: findings.append(.init(.board, .ok, size))
        }
        guard case .success(let decoder) = decoder else { return findings }
        return findings + [profileFinding(plan(decoder))]
    }

    func plan(_ decoder: Decoder) -> DecodePlan {
        DecodePlan(
            cores: board.cores, memoryMegabytes: board.memoryMegabytes, liveSpeed: decoder.timesRealTime,
            sharesModel: configuration.engine.makesCopies, cost: configuration.engine.cost(in: configuration))
    }

    private func profileFinding(_ plan: DecodePlan) -> DoctorFinding {
        let recognizer = configuration.recognizer
        let pace =
            plan.keepsPace == true ? "transcription keeps up with speech" : "transcription finishes after the recording"
        let isBest = plan.profile == "live" && !configuration.engine.cost(in: configuration).repeatsLive
        let secondPass = isBest ? "no second pass needed" : plan.secondPass ? "a second pass" : "no second pass"
        let message =
            "suits this board: \(counted(plan.workers, "worker", "workers")), \(secondPass); "
            + "\(pace) with the profile \(plan.profile)"
        var settings: [String] = []
        // A setting of 0 means as many workers as suit the board.
        if ![0, plan.workers].contains(recognizer.workers) { settings.append("workers = \(plan.workers)") }
        if recognizer.secondPass == .yes, !plan.secondPass { settings.append("second-pass = auto") }
        if settings.isEmpty { return .init(.profile, .ok, message) }
        return .init(.profile, .notice, message, remedy: "in [recognizer], set \(settings.joined(separator: " and "))")
    }
}
