import Copying
import Core
import Glibc
import Recognition
import System

/// Settings on a stick, in `Fieldscribe/settings`: a configuration, a vocabulary, and public keys for encrypting copies
/// if the recorder has none. Each file is checked as a whole and then stored beside the archive, where it overrides the
/// machine's configuration. If a file has problems, they are reported, and the previous file stays in effect. Nothing
/// is accepted unless `export.settings` is yes.
package enum StickSettings {
    /// The result of reading a stick's settings.
    package struct Outcome: Hashable, Sendable {
        /// The lines for RESULT.txt.
        package var lines: [String] = []

        package var hasChanged = false
    }

    static let configurationName = "fieldscribe.conf"
    static let vocabularyName = "vocabulary.txt"
    /// The file with the public keys. Its signature is in a file beside it.
    static let recipientsName = "recipients.txt"
    /// The name under which signed keys are stored.
    static let signedRecipientsName = "recipients-signed.txt"
    static let folderName = "settings"
    private static let maximumConfigurationBytes = 65_536
    private static let maxProblems = 50

    static func folder(in storage: String) -> String { "\(storage)/\(folderName)" }

    /// Reads a stick's settings and stores the valid ones.
    ///
    /// - Parameters:
    ///   - path: The stick's mount point. Links and FIFOs on the stick are not opened.
    ///   - configuration: The machine's own configuration, which the stick's settings would override.
    ///   - program: The program that checks files in a sandbox.
    package static func accept(
        fromStick path: String, over configuration: Configuration, program: String = "/proc/self/exe"
    ) -> Outcome {
        var outcome = Outcome()
        let check = { (kind: Kind, bytes: [UInt8]) throws(DeviceError) in
            try kind.problems(of: bytes, over: configuration, program)
        }
        do throws(DeviceError) {
            let stick = try Folder(opening: path)
            guard try stick.exists("Fieldscribe") else { return outcome }
            let parent = try stick.folder("Fieldscribe")
            guard try parent.exists(folderName) else { return outcome }
            guard configuration.export.settings else {
                outcome.lines.append(
                    "\(folderName) was not read: this recorder does not accept settings from sticks "
                        + "(export.settings = no).")
                return outcome
            }
            let folder = try parent.folder(folderName)
            accept(.settings, in: folder, upTo: maximumConfigurationBytes, for: configuration, &outcome, check)
            accept(.vocabulary, in: folder, upTo: VocabularyFile.maximumBytes, for: configuration, &outcome, check)
            acceptRecipients(in: folder, for: configuration, &outcome, check)
        } catch {
            outcome.lines.append("\(folderName) WAS NOT ACCEPTED: \(error.message)")
        }
        return outcome
    }

    private typealias Check = (Kind, [UInt8]) throws(DeviceError) -> [String]

    private static func accept(
        _ kind: Kind, in folder: Folder, upTo limit: Int, for configuration: Configuration,
        _ outcome: inout Outcome, _ check: Check
    ) {
        let name = kind.fileName
        do throws(DeviceError) {
            guard try folder.exists(name) else { return }
            let bytes = try folder.content(ofFile: name, limit: limit)
            let problems = try check(kind, bytes)
            guard problems.isEmpty else {
                outcome.lines.append(
                    "\(folderName)/\(name) WAS NOT ACCEPTED; the previous settings stay in effect. "
                        + "Correct these lines:")
                outcome.lines += problems.prefix(maxProblems).map { "    \($0)" }
                if problems.count > maxProblems {
                    outcome.lines.append("    ... and \(problems.count - maxProblems) more")
                }
                return
            }
            let storedFolder = Self.folder(in: configuration.storage.directory)
            let storedPath = "\(storedFolder)/\(name)"
            if (try? content(ofFile: storedPath, limit: limit)) == bytes {
                outcome.lines.append("\(folderName)/\(name) is already in effect.")
                return
            }
            try makeFolder(storedFolder)
            try durableReplace(path: storedPath, with: bytes)
            outcome.lines.append("\(folderName)/\(name) was accepted; it takes effect with the next recording.")
            outcome.hasChanged = true
        } catch {
            outcome.lines.append(
                "\(folderName)/\(name) WAS NOT ACCEPTED; the previous settings stay in effect: \(error.message)")
        }
    }

    /// Accepts public keys for encrypting copies, if there are none yet or the new ones are signed.
    private static func acceptRecipients(
        in folder: Folder, for configuration: Configuration, _ outcome: inout Outcome, _ check: Check
    ) {
        let subject = "\(folderName)/\(recipientsName)"
        do throws(DeviceError) {
            guard try folder.exists(recipientsName) else { return }
            let bytes = try folder.content(ofFile: recipientsName, limit: RecipientsFile.maximumBytes)
            if let problem = try check(.recipients, bytes).first { throw DeviceError(.unsupported, "read", problem) }
            let recipients = try RecipientsFile.recipients(bytes, subject)
            let isSigned = try isSigned(bytes, in: folder, subject, configuration)
            let storedFolder = Self.folder(in: configuration.storage.directory)
            let storedPath = "\(storedFolder)/\(isSigned ? signedRecipientsName : recipientsName)"
            let current = configuration.withStickSettings().export.recipients
            if current == [storedPath],
                (try? content(ofFile: storedPath, limit: RecipientsFile.maximumBytes)) == bytes
            {
                outcome.lines.append("\(subject) is already in effect.")
                return
            }
            if !isSigned, let refusal = refusal(current, configuration) {
                throw DeviceError(.denied, "settings", on: subject, refusal)
            }
            try Age().check(recipients)
            try makeFolder(storedFolder)
            try durableReplace(path: storedPath, with: bytes)
            let keys = recipients.map(\.short).joined(separator: ", ")
            outcome.lines.append("\(subject) was accepted: from now on, copies are encrypted to \(keys).")
            outcome.hasChanged = true
        } catch {
            outcome.lines.append("\(folderName)/\(recipientsName) WAS NOT ACCEPTED: \(error.message)")
        }
    }

    /// Whether the keys are signed with `export.settings-key`.
    ///
    /// - Throws: `DeviceError` with `denied` for another signature, `missing` if minisign is not installed.
    private static func isSigned(
        _ bytes: [UInt8], in folder: Folder, _ subject: String, _ configuration: Configuration
    ) throws(DeviceError) -> Bool {
        let (name, key) = ("\(recipientsName).minisig", configuration.export.settingsKey)
        guard !key.isEmpty, try folder.exists(name) else { return false }
        let signature = try folder.content(ofFile: name, limit: Minisign.maximumFileBytes)
        guard try Minisign().comment(of: bytes, signature: signature, key: key) != nil else {
            throw DeviceError(
                .denied, "minisign", on: subject, "is not signed with the key that export.settings-key names",
                remedy: "sign the current file: minisign -S -m \(recipientsName)")
        }
        return true
    }

    /// Returns why a stick may not set the recipients without a signature; nil if it may.
    private static func refusal(_ current: [String], _ configuration: Configuration) -> String? {
        let signed = "or sign \(recipientsName) with the key that export.settings-key names"
        if current == configuration.export.recipients, !current.isEmpty {
            return "the recipients of copies are set on this recorder (export.recipients); change them there, \(signed)"
        }
        if let storedPath = current.first {
            return "an earlier stick has set the recipients of copies; remove \(storedPath) on the recorder, \(signed)"
        }
        if configuration.storage.afterExport != .keep {
            return "copied recordings are erased here (storage.after-export), so someone with other keys could steal "
                + "them; set export.recipients on the recorder, \(signed)"
        }
        return nil
    }
}

// The settings in effect.
extension Configuration {
    /// Returns a copy with a stick's accepted settings, if they are valid and `export.settings` is yes. The stick's
    /// public keys are used as long as they exist and no other keys are set, even if `export.settings` is no.
    func withStickSettings() -> Configuration {
        let folder = StickSettings.folder(in: storage.directory)
        var configuration = self
        // Signed keys override the machine's own keys as long as the signing key is set or there are no other keys.
        for (name, isUsed) in [
            (StickSettings.recipientsName, export.recipients.isEmpty),
            (StickSettings.signedRecipientsName, export.recipients.isEmpty || !export.settingsKey.isEmpty),
        ] where isUsed && pathExists("\(folder)/\(name)") {
            configuration.export.recipients = ["\(folder)/\(name)"]
        }
        guard export.settings else { return configuration }
        let file = "\(folder)/\(StickSettings.configurationName)"
        if let bytes = try? Configuration.read(file),
            let overlaid = try? configuration.overlaid(by: bytes, file: file)
        {
            configuration = overlaid
        }
        let vocabulary = "\(folder)/\(StickSettings.vocabularyName)"
        let words = try? content(ofFile: vocabulary, limit: VocabularyFile.maximumBytes)
        if words?.isEmpty == false { configuration.recognizer.vocabulary = vocabulary }
        return configuration
    }
}

extension Configuration {
    func overlaid(by bytes: [UInt8], file: String) throws(ConfigurationError) -> Configuration {
        try ConfigurationParser.overlay(bytes, file: file, over: self) {
            $0.stickRefusal($1)
        }
    }
}

// The keys that a stick may set.
extension ConfigurationKey {
    private static let allowedOnSticks: Set<String> = [
        "capture.rate", "capture.channels", "capture.preroll-seconds", "capture.sync-seconds", "recognizer.hint",
        "recognizer.language", "recognizer.punctuation", "recognizer.second-pass", "recognizer.workers", "panel.style",
        "panel.hold-milliseconds",
        "panel.shutdown", "export.formats", "export.pause-seconds", "export.audio", "export.accept",
    ]

    /// Returns why a stick may not set this key, with the remedy; nil if it may. A stick must not name the machine's
    /// files or programs, move the storage, or choose who controls the recorder.
    func stickRefusal(_ value: String) -> String? {
        switch path {
        case "capture.device":
            return Self.isCard(value)
                ? nil
                : "a stick may only name a sound card; allowed: alsa:default or, for example, "
                    + "alsa:plughw:CARD=Mic,DEV=0"
        case "recognizer.engine":
            let names = [EngineRegistry.automaticName] + EngineRegistry.automatic.map(\.name)
            return names.contains(value)
                ? nil : "a stick may not name a program; allowed: \(names.joined(separator: ", "))"
        case "export.recipients":
            return
                "a stick sets the recipients of copies in settings/\(StickSettings.recipientsName), one key per line, "
                + "and only if none are set; delete this line"
        case "recognizer.model":
            return value.contains("/")
                ? "a stick may only set the name of a model from the list of fieldscribe models" : nil
        default:
            return Self.allowedOnSticks.contains(path) || section == "speech"
                ? nil : "cannot be set from a stick, only in the machine's own configuration; delete this line"
        }
    }

    /// Whether a value of `capture.device` only names a sound card. ALSA names may contain whole device definitions,
    /// which can write to files and start programs.
    private static func isCard(_ device: String) -> Bool {
        guard device.hasPrefix("alsa:") else { return false }
        let parts = device.dropFirst("alsa:".count).split(separator: ":", omittingEmptySubsequences: false)
        if parts == ["default"] { return true }
        let isPlain =
            parts.last?.allSatisfy { $0.isASCIIAlphanumeric || "=,_-".contains($0) } ?? false
        return parts.count == 2 && ["plughw", "hw", "sysdefault", "dsnoop"].contains(parts[0]) && isPlain
            && !parts[1].isEmpty
    }
}
