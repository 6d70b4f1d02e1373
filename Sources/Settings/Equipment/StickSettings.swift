import Copying
import Core
import Glibc
import Recognition
import System

/// Settings on a stick, in `Fieldscribe/settings`: a configuration, a vocabulary, and public keys to encrypt copies to
/// if there are none. Each file is checked as a whole, and then stored beside the archive, where it overrides the
/// machine's configuration. Problems are reported, and the previous settings stay. Nothing is accepted unless
/// `export.settings` is yes.
package enum StickSettings {
    /// The result of reading a stick's settings.
    package struct Outcome: Hashable, Sendable {
        /// The lines for RESULT.txt.
        package var lines: [String] = []

        /// Whether the settings in effect changed.
        package var hasChanged = false
    }

    static let configurationName = "fieldscribe.conf"
    static let vocabularyName = "vocabulary.txt"
    /// The file of public keys; its signature is beside it.
    static let recipientsName = "recipients.txt"
    /// The name under which signed keys are kept.
    static let signedRecipientsName = "recipients-signed.txt"
    static let folderName = "settings"
    private static let largestConfiguration = 65_536
    private static let maxProblems = 50

    /// The folder in which settings are kept.
    static func folder(in storage: String) -> String { "\(storage)/\(folderName)" }

    /// Reads a stick's settings.
    ///
    /// - Parameters:
    ///   - path: where the stick is mounted; no link or FIFO on it is opened.
    ///   - configuration: the machine's own, which the stick's would override.
    ///   - program: checks files in a sandbox.
    package static func take(
        fromStick path: String, over configuration: Configuration, program: String = "/proc/self/exe"
    ) -> Outcome {
        var outcome = Outcome()
        let check = { (kind: Kind, bytes: [UInt8]) throws(DeviceError) in
            try kind.problems(of: bytes, over: configuration, program)
        }
        do throws(DeviceError) {
            let stick = try Folder(opening: path)
            guard try stick.exists("Fieldscribe") else { return outcome }
            let top = try stick.folder("Fieldscribe")
            guard try top.exists(folderName) else { return outcome }
            guard configuration.export.settings else {
                outcome.lines.append(
                    "\(folderName) was not read: this recorder does not accept settings from sticks "
                        + "(export.settings = no).")
                return outcome
            }
            let folder = try top.folder(folderName)
            accept(.settings, in: folder, upTo: largestConfiguration, keptIn: configuration, &outcome, check)
            accept(.vocabulary, in: folder, upTo: VocabularyFile.largest, keptIn: configuration, &outcome, check)
            acceptRecipients(in: folder, keptIn: configuration, &outcome, check)
        } catch {
            outcome.lines.append("\(folderName) WAS NOT ACCEPTED: \(error.message)")
        }
        return outcome
    }

    private typealias Check = (Kind, [UInt8]) throws(DeviceError) -> [String]

    private static func accept(
        _ kind: Kind, in folder: Folder, upTo limit: Int, keptIn configuration: Configuration,
        _ outcome: inout Outcome, _ check: Check
    ) {
        let name = kind.fileName
        do throws(DeviceError) {
            guard try folder.exists(name) else { return }
            let bytes = try folder.content(ofFile: name, limit: limit)
            let wrong = try check(kind, bytes)
            guard wrong.isEmpty else {
                outcome.lines.append(
                    "\(folderName)/\(name) WAS NOT ACCEPTED; the previous settings stay in effect. "
                        + "Correct these lines:")
                outcome.lines += wrong.prefix(maxProblems).map { "    \($0)" }
                if wrong.count > maxProblems {
                    outcome.lines.append("    ... and \(wrong.count - maxProblems) more")
                }
                return
            }
            let kept = Self.folder(in: configuration.storage.directory)
            let place = "\(kept)/\(name)"
            if (try? content(ofFile: place, limit: limit)) == bytes {
                outcome.lines.append("\(folderName)/\(name) is already in effect.")
                return
            }
            try makeFolder(kept)
            try durableReplace(path: place, with: bytes)
            outcome.lines.append("\(folderName)/\(name) was accepted; it takes effect with the next recording.")
            outcome.hasChanged = true
        } catch {
            outcome.lines.append(
                "\(folderName)/\(name) WAS NOT ACCEPTED; the previous settings stay in effect: \(error.message)")
        }
    }

    /// Accepts the public keys to encrypt copies to, if there are none yet or they are signed.
    private static func acceptRecipients(
        in folder: Folder, keptIn configuration: Configuration, _ outcome: inout Outcome, _ check: Check
    ) {
        let subject = "\(folderName)/\(recipientsName)"
        do throws(DeviceError) {
            guard try folder.exists(recipientsName) else { return }
            let bytes = try folder.content(ofFile: recipientsName, limit: RecipientsFile.largest)
            if let problem = try check(.recipients, bytes).first { throw DeviceError(.unsupported, "read", problem) }
            let recipients = try RecipientsFile.recipients(bytes, subject)
            let isSigned = try isSigned(bytes, in: folder, subject, configuration)
            let kept = Self.folder(in: configuration.storage.directory)
            let place = "\(kept)/\(isSigned ? signedRecipientsName : recipientsName)"
            let counting = configuration.withStickSettings().export.recipients
            if counting == [place], (try? content(ofFile: place, limit: RecipientsFile.largest)) == bytes {
                outcome.lines.append("\(subject) is already in effect.")
                return
            }
            if !isSigned, let refusal = refusal(counting, configuration) {
                throw DeviceError(.denied, "settings", on: subject, refusal)
            }
            try Age().check(recipients)
            try makeFolder(kept)
            try durableReplace(path: place, with: bytes)
            let keys = recipients.map(\.short).joined(separator: ", ")
            outcome.lines.append("\(subject) was accepted: from now on copies are sealed for \(keys).")
            outcome.hasChanged = true
        } catch {
            outcome.lines.append("\(folderName)/\(recipientsName) WAS NOT ACCEPTED: \(error.message)")
        }
    }

    /// Whether the keys are signed with `export.settings-key`.
    ///
    /// - Throws: `DeviceError` with `denied` for another signature, `missing` without minisign.
    private static func isSigned(
        _ bytes: [UInt8], in folder: Folder, _ subject: String, _ configuration: Configuration
    ) throws(DeviceError) -> Bool {
        let (name, key) = ("\(recipientsName).minisig", configuration.export.settingsKey)
        guard !key.isEmpty, try folder.exists(name) else { return false }
        let signature = try folder.content(ofFile: name, limit: Minisign.longest)
        guard try Minisign().comment(of: bytes, signature: signature, key: key) != nil else {
            throw DeviceError(
                .denied, "minisign", on: subject, "is not signed with the key that export.settings-key names",
                remedy: "sign it as it is: minisign -S -m \(recipientsName)")
        }
        return true
    }

    /// Why a stick may not set the recipients without a signature; nil if it may.
    private static func refusal(_ counting: [String], _ configuration: Configuration) -> String? {
        let signed = "or have \(recipientsName) signed with the key that export.settings-key names"
        if counting == configuration.export.recipients, !counting.isEmpty {
            return "the recipients of copies are set on this recorder (export.recipients); change them there, \(signed)"
        }
        if let place = counting.first {
            return "an earlier stick has set the recipients of copies; remove \(place) on the recorder, \(signed)"
        }
        if configuration.storage.afterExport != .keep {
            return "copied recordings are erased here (storage.after-export), so a person with other keys could steal "
                + "them; set export.recipients on the recorder, \(signed)"
        }
        return nil
    }
}

// The settings in effect.
extension Configuration {
    /// Returns a copy with the accepted settings of a stick, if they are valid and `export.settings` is yes. Its public
    /// keys are used as long as they exist and no others are set, even if `export.settings` is no.
    func withStickSettings() -> Configuration {
        let folder = StickSettings.folder(in: storage.directory)
        var configuration = self
        // Signed keys override the machine's own as long as the signing key is set, or there are no others.
        for (name, counts) in [
            (StickSettings.recipientsName, export.recipients.isEmpty),
            (StickSettings.signedRecipientsName, export.recipients.isEmpty || !export.settingsKey.isEmpty),
        ] where counts && isTaken("\(folder)/\(name)") {
            configuration.export.recipients = ["\(folder)/\(name)"]
        }
        guard export.settings else { return configuration }
        let file = "\(folder)/\(StickSettings.configurationName)"
        if let bytes = try? Configuration.read(file),
            let other = try? configuration.overlaid(by: bytes, file: file)
        {
            configuration = other
        }
        let vocabulary = "\(folder)/\(StickSettings.vocabularyName)"
        let words = try? content(ofFile: vocabulary, limit: VocabularyFile.largest)
        if words?.isEmpty == false { configuration.recognizer.vocabulary = vocabulary }
        return configuration
    }
}

extension Configuration {
    func overlaid(by bytes: [UInt8], file: String) throws(ConfigurationError) -> Configuration {
        try ConfigurationParser.overlay(bytes, file: file, over: self) {
            $0.refusalOfStick($1)
        }
    }
}

// The keys that a stick may set.
extension ConfigurationKey {
    private static let ofSticks: Set<String> = [
        "capture.rate", "capture.channels", "capture.preroll-seconds", "capture.sync-seconds", "recognizer.hint",
        "recognizer.language", "recognizer.punctuation", "recognizer.second-pass", "recognizer.workers", "panel.style",
        "panel.hold-milliseconds",
        "panel.shutdown", "export.formats", "export.pause-seconds", "export.audio", "export.accept",
    ]

    /// Why a stick may not set this, and what to do; nil if it may. A stick must not name files or programs of the machine,
    /// move the storage, or choose who controls the recorder.
    func refusalOfStick(_ value: String) -> String? {
        switch path {
        case "capture.device":
            return Self.isCard(value)
                ? nil
                : "a stick may only name a sound card; allowed: alsa:default, or a name like alsa:plughw:CARD=Mic,DEV=0"
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
                ? "a stick may only give the name of a model, as fieldscribe models lists it" : nil
        default:
            return Self.ofSticks.contains(path) || section == "speech"
                ? nil : "cannot be set from a stick, only in the machine's own configuration; delete this line"
        }
    }

    /// Whether this names only a card: ALSA names may contain whole device definitions, which write to files and start
    /// programs.
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
