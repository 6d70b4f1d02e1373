import Core
import Settings

// The findings depend only on these facts.
extension DoctorFacts {
    /// All findings, in the order in which they are shown.
    package var findings: [DoctorFinding] {
        let settingsByCheck = invalidSettingByCheck
        var unreported = settingsByCheck
        return allFindings.compactMap { finding in
            guard settingsByCheck[finding.check] != nil else { return finding }
            // One finding replaces all findings of the check.
            guard let setting = unreported.removeValue(forKey: finding.check) else { return nil }
            return DoctorFinding(
                finding.check, .notice, "not checked, because \(setting) is wrong",
                remedy: "correct this setting, then run fieldscribe doctor again")
        }
    }

    /// The checks that depend on an invalid setting, with that setting. Each check gives one notice instead of its
    /// findings, since those would be about the setting's default.
    private var invalidSettingByCheck: [DoctorFinding.Check: String] {
        let settingsByCheck: [(DoctorFinding.Check, [String])] = [
            (.microphone, ["capture.device"]), (.button, ["panel.button"]), (.lamp, ["panel.lamp"]),
            (.model, ["recognizer.engine", "recognizer.model"]),
            (.decoder, ["recognizer.engine", "recognizer.model"]), (.speakers, ["recognizer.speaker-model"]),
            (.disk, ["storage.directory"]),
        ]
        return Dictionary(
            settingsByCheck.compactMap { check, settings in
                settings.first(where: invalidSettings.contains).map { (check, $0) }
            }
        ) { first, _ in first }
    }

    /// The findings of all checks, including those that depend on an invalid setting.
    private var allFindings: [DoctorFinding] {
        // Swift 6.0.3 takes too long to type-check this as a single sum.
        var all = configurationFindings
        all += [applianceFinding, microphoneFinding, finding(.button, button), finding(.lamp, lamp)]
        all += decoderFindings
        all += speakersFindings + sandboxFindings
        all += zip(EngineRegistry.automatic, skippedEngines).map { engine, error in
            var finding = DoctorFinding(.model, error: error)
            finding.status = .notice
            finding.message = "recognizer.engine = auto skips \(engine.name): \(finding.message)"
            return finding
        }
        all += diskFindings
        all += copiesFindings + driveFindings
        all += permissionFindings
        all.append(clockFinding)
        all += boardFindings
        return all
    }

    /// The measured numbers, for programs.
    package var measurements: [String: Double] {
        var measurements: [String: Double] = [
            "board.cores": Double(board.cores), "board.memoryMegabytes": Double(board.memoryMegabytes),
        ]
        measurements["board.temperature"] = board.temperature
        if case .success(let sound) = sound {
            measurements["microphone.seconds"] = sound.seconds
            measurements["microphone.rms"] = sound.rms
            measurements["microphone.peak"] = sound.peak
            measurements["microphone.clippedShare"] = sound.clipped
            measurements["microphone.lostSamples"] = Double(sound.lost)
            measurements["microphone.channels"] = Double(sound.channels)
        }
        if case .success(let disk) = disk {
            measurements["disk.freeBytes"] = disk.freeBytes
            measurements["disk.runwayHours"] = runwayHours(on: disk)
            measurements["disk.syncMedianSeconds"] = disk.medianSeconds
            measurements["disk.syncWorstSeconds"] = disk.worstSeconds
        }
        if case .success(let decoder) = decoder { measurements["decoder.timesRealTime"] = decoder.timesRealTime }
        return measurements
    }

    private var configurationFindings: [DoctorFinding] {
        if let configurationError { return [.init(.configuration, error: configurationError)] }
        if configurationProblems.isEmpty {
            return [.init(.configuration, .ok, configuration.file ?? "no file; all settings have their defaults")]
        }
        return configurationProblems.map {
            .init(.configuration, .failed, $0, remedy: "correct this line; man 5 fieldscribe.conf explains every key")
        }
    }

    private var applianceFinding: DoctorFinding {
        switch appliance {
        case .running: .init(.appliance, .ok, "running; see fieldscribe status")
        case .stopped:
            .init(
                .appliance, .notice, "not running",
                remedy: "when every check is ok: sudo systemctl start fieldscribe")
        case .denied:
            .init(
                .appliance, .notice, "\(configuration.control.socket): this user may not query the appliance",
                remedy: "sudo adduser USER \(configuration.control.group), then log in again")
        }
    }

    private var microphoneFinding: DoctorFinding {
        let name = configuration.capture.device
        switch sound {
        case .failure(let error) where error.code == .busy && (microphoneIsOurs || appliance == .denied):
            return .init(.microphone, .ok, "\(name): in use by the appliance; see fieldscribe status")
        case .failure(let error):
            var finding = DoctorFinding(.microphone, error: error)
            if finding.status == .missing, !microphones.isEmpty {
                finding.remedy =
                    "set capture.device = alsa:NAME, where NAME is one of these: \(microphones.joined(separator: "; "))"
            }
            return finding
        case .success(let sound): return judge(sound, of: name)
        }
    }

    private func judge(_ sound: Sound, of name: String) -> DoctorFinding {
        let channels = sound.channels > 1 ? "two channels, " : ""
        let summary =
            "\(name): \(channels)level \(sound.rms.oneDecimal) dBFS, peak \(sound.peak.oneDecimal) dBFS in \(sound.seconds.oneDecimal) s"
        if sound.seconds == 0 {
            return .init(
                .microphone, .failed, "\(name): can be opened, but delivers no audio",
                remedy: "unplug it and plug it in again")
        }
        if sound.isStuck {
            return .init(
                .microphone, .failed, "\(name): delivers a constant value",
                remedy: "look for a mute switch, then raise the capture level with alsamixer -V capture")
        }
        if let channel = sound.stuckChannel {
            return .init(
                .microphone, .notice, "\(summary); channel \(channel) delivers a constant value",
                remedy: "plug in its microphone, or set capture.channels = 1")
        }
        if sound.lost > 0 {
            return .init(
                .microphone, .notice, "\(summary); \(sound.lost) samples were lost",
                remedy: "plug it directly into the board, not into a hub, and close other programs")
        }
        if sound.clipped > 0.001 {
            return .init(
                .microphone, .notice, "\(summary); it clips",
                remedy: "lower the capture level with alsamixer -V capture")
        }
        if sound.peak < -70 {
            return .init(
                .microphone, .notice, "\(summary); it is almost silent",
                remedy: "speak while the doctor listens, or raise the capture level with alsamixer -V capture")
        }
        if sound.channelsCancel {
            return .init(
                .microphone, .notice,
                "\(summary); its channels cancel each other out, so only the louder one is recorded",
                remedy: "use a balanced-to-unbalanced adapter, or set capture.channels = 2")
        }
        if configuration.capture.recordedChannels > 1, sound.channels == 1 || sound.channelsIdentical {
            return .init(
                .microphone, .notice,
                "\(summary); " + (sound.channels == 1 ? "it has one channel" : "both channels are the same")
                    + ", so speakers cannot be identified by their microphones",
                remedy: "set capture.channels = 1, or use a device with two microphones")
        }
        return .init(.microphone, .ok, summary)
    }

    private func finding(_ check: DoctorFinding.Check, _ line: Line) -> DoctorFinding {
        guard let error = line.error else {
            return .init(check, .ok, line.isGpio ? "\(line.name): available" : line.name)
        }
        if error.code == .busy, line.isOurs, appliance != .stopped {
            return .init(check, .ok, "\(line.name): in use by the appliance")
        }
        return .init(check, error: error)
    }

    private var decoderFindings: [DoctorFinding] {
        if let modelError { return [.init(.model, error: modelError)] }
        switch decoder {
        case nil: return []
        case .failure(let error): return [.init(.model, error: error)]
        case .success(let decoder):
            let model = DoctorFinding(.model, .ok, modelText(decoder))
            let sound = decoder.wasMeasuredOnSpeech ? "speech" : "a synthetic sound, so this is only approximate"
            let speed = "\(decoder.timesRealTime.oneDecimal) x real time for one worker, on \(sound)"
            if plan(decoder).keepsPace == true {
                return [model, .init(.decoder, .ok, speed)]
            }
            return [
                model,
                .init(
                    .decoder, .notice, "\(speed): too slow to keep up with speech",
                    remedy:
                        "nothing is lost: the transcript is completed after the recording; a faster board transcribes live"
                ),
            ]
        }
    }

    private var speakersFindings: [DoctorFinding] {
        switch speakers {
        case nil: return []
        case .success(let model):
            return savedVoicesFindings + [
                .init(.speakers, .ok, "speakers are identified with \(model), which loads without errors")
            ]
        case .failure(let error):
            var finding = DoctorFinding(.speakers, error: error)
            // The model is needed only for identifying speakers.
            finding.status = .notice
            if configuration.capture.recordedChannels > 1 {
                finding.message += "; without it, speakers are identified only where one microphone is louder"
            }
            return savedVoicesFindings + [finding]
        }
    }

    private var savedVoicesFindings: [DoctorFinding] {
        guard configuration.speakers.remember, !configuration.storage.seal.isEmpty else { return [] }
        return [
            .init(
                .speakers, .notice,
                "speakers.remember and storage.seal are both set: recordings are sealed before their speakers can be named, "
                    + "so no voices are learned from them",
                remedy: "set speakers.remember = no, or remove storage.seal")
        ]
    }

    /// The findings about programs that the engine needs but the service's sandbox forbids.
    private var sandboxFindings: [DoctorFinding] {
        guard let runnable else { return [] }
        let forbiddenPrograms = configuration.engine.programs(in: configuration).filter { program in
            !runnable.contains { program == $0 || program.hasPrefix($0 + "/") }
        }
        return forbiddenPrograms.map {
            DoctorFinding(
                .model, .failed,
                "\($0): the service's sandbox does not allow it to run, so the service transcribes nothing",
                remedy:
                    "set recognizer.engine = auto; or run sudo systemctl edit fieldscribe and add the lines [Service] and "
                    + "ExecPaths=\($0)")
        }
    }

    /// Returns the engine with its version, the model, and whether the model is intact.
    private func modelText(_ decoder: Decoder) -> String {
        let engine = configuration.engine
        let version = [decoder.engine?.name ?? engine.name, decoder.engine?.version ?? ""].filter { !$0.isEmpty }
        let state = ["complete and can be loaded", engine.integrity(in: configuration)].filter { !$0.isEmpty }
        return "\(version.joined(separator: " ")) with \(engine.modelOrProgram(in: configuration)): "
            + state.joined(separator: "; ")
    }

    private var clockFinding: DoctorFinding {
        isClockSynchronized
            ? .init(.clock, .ok, "synchronized")
            : .init(
                .clock, .notice, "not synchronized: recordings will be marked \"clock unverified\"",
                remedy: "connect the machine to a network after each start, or add a clock module (RTC)")
    }
}

extension DoctorFinding {
    init(_ check: Check, error: DeviceError) {
        self.init(
            check, error.code == .missing ? .missing : .failed, error.statement,
            remedy: error.remedy ?? "see the log: journalctl -u fieldscribe")
    }
}
