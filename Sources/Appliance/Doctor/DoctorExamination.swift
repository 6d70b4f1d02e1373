import Audio
import Copying
import Core
import Glibc
import Maintenance
import Recognition
import Settings
import System

/// Measures this machine and its real devices, one after the other.
package struct DoctorExamination: Sendable {
    private let explicitPath: String?
    private let environment: [String: String]
    private let seconds: Double

    /// - Parameters:
    ///   - explicitPath: the configuration file from the command line.
    ///   - seconds: how long to record from the microphone.
    package init(explicitPath: String?, environment: [String: String], seconds: Double = 2) {
        self.explicitPath = explicitPath
        self.environment = environment
        self.seconds = seconds
    }

    /// Performs all measurements. A failed measurement is a result too. Calls `progress` before the slow ones.
    package func run(progress: (DoctorFinding.Check) -> Void = { _ in }) async -> DoctorFacts {
        var problems: [ConfigurationError.Problem] = []
        var configurationError: DeviceError?
        var configuration = Configuration()
        progress(.configuration)
        do {
            configuration = try Configuration.load(explicitPath: explicitPath, environment: environment)
        } catch let error as ConfigurationError {
            // The valid lines still apply to the other checks.
            problems = error.problems
            configuration = Configuration.salvage(explicitPath: explicitPath, environment: environment) ?? configuration
        } catch { configurationError = DeviceError(wrapping: error) }
        progress(.microphone)
        let appliance = doctorAppliance(configuration)
        let sound = await doctorSound(configuration, seconds: seconds)
        progress(.disk)
        let disk = await doctorDisk(configuration.storage.directory)
        var facts = DoctorFacts(
            configuration: configuration, sound: sound, button: line(configuration.panel.button, .input),
            lamp: line(configuration.panel.lamp, .output), disk: disk, permissions: doctorPermissions(configuration),
            isClockSynchronized: MonotonicClock.wallIsSynchronized, board: doctorBoard())
        facts.configurationProblems = problems.map(\.description)
        facts.invalidSettings = Set(problems.compactMap(\.setting))
        facts.configurationError = configurationError
        facts.appliance = appliance
        facts.microphoneIsOurs = appliance == .running && doctorMicrophoneIsOurs(configuration)
        facts.microphones = ((try? captureDevices()) ?? []).map { "\($0.name) (\($0.description))" }
        // If a setting for copies is wrong, a check of its default would be misleading.
        let hasCopyProblem = problems.contains {
            $0.setting.map { setting in ["export.", "storage.", "usb."].contains { setting.hasPrefix($0) } } ?? true
        }
        if !hasCopyProblem, configurationError == nil {
            facts.sealing = doctorSealing(configuration)
            facts.signing = doctorSigning(configuration)
            facts.opened = status(configuration)?.opened
            if !configuration.storage.seal.isEmpty {
                facts.recorderSealing = doctorRecorderSealing(configuration)
                facts.damagedDatabases = (try? Erasure.damagedDatabases(in: configuration.storage.directory)) ?? []
            }
            if configuration.usb.drive { facts.drivePorts = doctorDrivePorts() }
            if configuration.export.sticks == .known { facts.allowedSticks = doctorSticks(configuration) }
        }
        progress(.decoder)
        if configuration.recognizer.speakers != .no { facts.speakers = await doctorSpeakers(configuration) }
        if !configuration.engine.programs(in: configuration).isEmpty { facts.runnable = doctorRunnable() }
        if configuration.recognizer.engine == EngineRegistry.automaticName {
            facts.skippedEngines = EngineRegistry.problems(for: configuration)
        }
        do throws(DeviceError) {
            _ = try configuration.workerCommand(profile: "live")
            facts.decoder = await doctorDecoder(configuration)
        } catch { facts.modelError = error }
        return facts
    }

    /// Requests a line for a moment, since there is no other way to find out whether it can be used.
    private func line(_ address: PanelAddress, _ direction: LineRequest.Direction) -> DoctorFacts.Line {
        switch address {
        case .sim, .none: return DoctorFacts.Line(name: "\(address)", isGpio: false)
        case .gpioName, .gpioOffset:
            var gpioLine: GpioLine?
            do throws(DeviceError) {
                let line = try GpioLine(finding: address)
                gpioLine = line
                let request = try LineRequest(line, direction)
                if direction == .input { _ = try request.value() }
                return DoctorFacts.Line(name: "\(address)", isGpio: true)
            } catch {
                return DoctorFacts.Line(
                    name: "\(address)", isGpio: true, isOurs: gpioLine?.isOurs ?? false, error: error)
            }
        }
    }
}

/// Verifies and loads the model that identifies speakers. Returns its path, or why it cannot be used.
func doctorSpeakers(_ configuration: Configuration) async -> Result<String, DeviceError> {
    await measured("speakers") {
        let model = configuration.diarizationModel
        _ = try VoiceNetwork(model, beside: [configuration.moonshineModel.path])
        return model.path
    }
}

/// Returns the number of public keys for which copies are encrypted, or why nothing can be copied.
func doctorSealing(_ configuration: Configuration) -> Result<Int, DeviceError> {
    Result { () throws(DeviceError) in
        guard let recipients = try configuration.recipients() else { return 0 }
        try Age().check(recipients)
        return recipients.count
    }
}

/// Returns the public key of the recorder's signatures, nil if there is none yet, or why nothing is signed.
func doctorSigning(_ configuration: Configuration) -> Result<String?, DeviceError> {
    Result { () throws(DeviceError) in
        _ = try Minisign()
        return RecorderKey.publicKey(in: configuration.storage.directory)
    }
}

/// Returns the number of public keys for which recordings on the recorder are encrypted, or why none are encrypted.
func doctorRecorderSealing(_ configuration: Configuration) -> Result<Int, DeviceError> {
    do throws(DeviceError) {
        let recipients = try configuration.sealRecipients() ?? []
        try Age().check(recipients)
        return .success(recipients.count)
    } catch {
        var error = error
        error.remedy = "correct storage.seal, or apt install age; until then nothing is encrypted on the recorder"
        return .failure(error)
    }
}

/// Returns the status of the running appliance; nil if it does not answer.
private func status(_ configuration: Configuration) -> ApplianceStatus? {
    guard let client = try? ControlClient(configuration) else { return nil }
    return (try? client.ask(.status))?.status
}

/// Returns the number of allowed sticks, or why the list cannot be read.
func doctorSticks(_ configuration: Configuration) -> Result<Int, DeviceError> {
    do throws(DeviceError) {
        return .success(try AllowedSticks(in: configuration.storage.directory).entries.count)
    } catch {
        // The folder does not exist before the first recording.
        return error.status == ENOENT ? .success(0) : .failure(error)
    }
}

/// Returns whether the appliance listens on the control socket and accepts this user.
func doctorAppliance(_ configuration: Configuration) -> DoctorFacts.Appliance {
    do throws(DeviceError) {
        return try ControlClient(configuration) == nil ? .stopped : .running
    } catch { return error.code == .denied ? .denied : .stopped }
}

/// Returns whether the running appliance uses the microphone: for a recording, even a paused one, or for the pre-roll.
func doctorMicrophoneIsOurs(_ configuration: Configuration) -> Bool {
    configuration.capture.prerollSeconds > 0 || status(configuration)?.recording != nil
}

/// Returns the kernel's names for the USB ports that can act as a device, or why there is no drive for laptops.
func doctorDrivePorts(system: String = "/sys", programs: [String] = ["/usr/sbin", "/sbin"]) -> Result<
    [String], DeviceError
> {
    guard programs.contains(where: { access("\($0)/mkfs.vfat", X_OK) == 0 }) else {
        return .failure(
            DeviceError(
                .missing, "usb.drive", on: "mkfs.vfat",
                "the program that creates the drive's file system is not installed",
                remedy: "sudo apt install dosfstools"))
    }
    // If there is no such port, the folder does not exist.
    return .success(((try? names(inFolder: "\(system)/class/udc")) ?? []).filter { !$0.hasPrefix(".") }.sorted())
}
