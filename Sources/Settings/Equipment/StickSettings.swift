import Copying
import Core
import Glibc
import Recognition
import System

/// Settings that a person brings on a stick, in `Fieldscribe/settings`: a configuration, a vocabulary, and public keys for which copies are
/// sealed, as long as there are none.
///
/// Each is checked whole, and then kept beside the archive, where it counts over the machine's own configuration; what is wrong is
/// answered, and what counted before goes on counting. Nothing is taken unless `export.settings` says so.
package enum StickSettings {
    /// What became of a stick's settings.
    package struct Outcome: Hashable, Sendable {
        /// What there is to say, for RESULT.txt.
        package var lines: [String] = []

        /// Whether something else counts from now on.
        package var hasChanged = false

        package init() {}
    }

    static let configurationName = "fieldscribe.conf"
    static let vocabularyName = "vocabulary.txt"
    /// A file of public keys; where it is signed, with its signature beside it.
    static let recipientsName = "recipients.txt"
    /// What it is kept as where it was signed.
    static let signedRecipientsName = "recipients-signed.txt"
    static let folderName = "settings"
    private static let largestConfiguration = 65_536
    private static let mostProblems = 50

    /// Where they are kept.
    static func folder(in storage: String) -> String { "\(storage)/\(folderName)" }

    /// Takes what is on a stick.
    ///
    /// - Parameters:
    ///   - path: where the stick is mounted; nothing there is followed or waited for.
    ///   - configuration: the machine's own, over which the stick's would count.
    ///   - program: the one that checks files, confined.
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
            take(.settings, in: folder, upTo: largestConfiguration, keptIn: configuration, &outcome, check)
            take(.vocabulary, in: folder, upTo: VocabularyFile.largest, keptIn: configuration, &outcome, check)
            takeRecipients(in: folder, keptIn: configuration, &outcome, check)
        } catch {
            outcome.lines.append("\(folderName) WAS NOT ACCEPTED: \(error.message)")
        }
        return outcome
    }

    private typealias Check = (Kind, [UInt8]) throws(DeviceError) -> [String]

    private static func take(
        _ kind: Kind, in folder: Folder, upTo limit: Int, keptIn configuration: Configuration,
        _ outcome: inout Outcome, _ check: Check
    ) {
        let name = kind.fileName
        do throws(DeviceError) {
            guard try folder.exists(name) else { return }
            let bytes = try folder.openFile(name, O_RDONLY).content(limit: limit)
            let wrong = try check(kind, bytes)
            guard wrong.isEmpty else {
                outcome.lines.append(
                    "\(folderName)/\(name) WAS NOT ACCEPTED; the previous settings stay in effect. "
                        + "Correct these lines:")
                outcome.lines += wrong.prefix(mostProblems).map { "    \($0)" }
                if wrong.count > mostProblems {
                    outcome.lines.append("    ... and \(wrong.count - mostProblems) more")
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

    /// Takes the public keys for which copies are sealed from now on: while there are none, or where they are signed.
    private static func takeRecipients(
        in folder: Folder, keptIn configuration: Configuration, _ outcome: inout Outcome, _ check: Check
    ) {
        let told = "\(folderName)/\(recipientsName)"
        do throws(DeviceError) {
            guard try folder.exists(recipientsName) else { return }
            let bytes = try folder.openFile(recipientsName, O_RDONLY).content(limit: RecipientsFile.largest)
            if let problem = try check(.recipients, bytes).first { throw DeviceError(.unsupported, "read", problem) }
            let recipients = try RecipientsFile.recipients(bytes, told)
            let isSigned = try isSigned(bytes, in: folder, told, configuration)
            let kept = Self.folder(in: configuration.storage.directory)
            let place = "\(kept)/\(isSigned ? signedRecipientsName : recipientsName)"
            let counting = configuration.withStickSettings().export.recipients
            if counting == [place], (try? content(ofFile: place, limit: RecipientsFile.largest)) == bytes {
                outcome.lines.append("\(told) is already in effect.")
                return
            }
            if !isSigned, let refusal = refusal(counting, configuration) {
                throw DeviceError(.denied, "settings", on: told, refusal)
            }
            try Age().check(recipients)
            try makeFolder(kept)
            try durableReplace(path: place, with: bytes)
            let keys = recipients.map(\.short).joined(separator: ", ")
            outcome.lines.append("\(told) was accepted: from now on copies are sealed for \(keys).")
            outcome.hasChanged = true
        } catch {
            outcome.lines.append("\(folderName)/\(recipientsName) WAS NOT ACCEPTED: \(error.message)")
        }
    }

    /// Whether they are signed with the key that this recorder knows.
    ///
    /// - Throws: `DeviceError` with `denied` where they have a signature that is not that key's, `missing` without minisign.
    private static func isSigned(
        _ bytes: [UInt8], in folder: Folder, _ told: String, _ configuration: Configuration
    ) throws(DeviceError) -> Bool {
        let (name, key) = ("\(recipientsName).minisig", configuration.export.settingsKey)
        guard !key.isEmpty, try folder.exists(name) else { return false }
        let signature = try folder.openFile(name, O_RDONLY).content(limit: Minisign.longest)
        guard try Minisign().comment(of: bytes, signature: signature, key: key) != nil else {
            throw DeviceError(
                .denied, "minisign", on: told, "is not signed with the key that export.settings-key names",
                remedy: "sign it as it is: minisign -S -m \(recipientsName)")
        }
        return true
    }

    /// Why a stick may not say for whom copies are sealed, unless that is signed; nil where it may.
    private static func refusal(_ counting: [String], _ configuration: Configuration) -> String? {
        let signed = "or have \(recipientsName) signed with the key that export.settings-key names"
        if counting == configuration.export.recipients, !counting.isEmpty {
            return "for whom copies are sealed is set on this recorder (export.recipients); change it there, \(signed)"
        }
        if let place = counting.first {
            return "an earlier stick has said for whom copies are sealed; remove \(place) on the recorder, \(signed)"
        }
        if configuration.storage.afterExport != .keep {
            return "what is copied is erased here (storage.after-export), so that whoever brings other keys could take "
                + "it away; set export.recipients on the recorder, \(signed)"
        }
        return nil
    }
}

// What counts.
extension Configuration {
    /// The same with the settings that a stick brought, where there are any that are right and `export.settings` says yes. Public
    /// keys that it brought count as long as they are there, and no others are set: they do not lapse.
    func withStickSettings() -> Configuration {
        let folder = StickSettings.folder(in: storage.directory)
        var configuration = self
        // What was signed counts over the machine's own, as long as that key is known, or there are no others.
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
        try Configuration.overlay(bytes, file: file, over: self, keys: ConfigurationKey.all) { $0.refusalOfStick($1) }
    }
}

// What a stick may set.
extension ConfigurationKey {
    private static let ofSticks: Set<String> = [
        "capture.rate", "capture.channels", "capture.preroll-seconds", "capture.sync-seconds", "recognizer.hint",
        "recognizer.punctuation", "recognizer.second-pass", "recognizer.workers", "panel.style",
        "panel.hold-milliseconds",
        "panel.shutdown", "export.formats", "export.pause-seconds", "export.audio", "export.accept",
    ]

    /// Why a stick may not set this, and what to do; nil where it may. Nothing that it sets names a file or a program of the
    /// machine, nor where recordings are kept, nor who may control the recorder.
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
            return "a stick says for whom copies are sealed in settings/\(StickSettings.recipientsName), a key a line, "
                + "and only while that is not set; delete this line"
        case "recognizer.model":
            return value.contains("/")
                ? "a stick may only give the name of a model, as fieldscribe models lists it" : nil
        default:
            return Self.ofSticks.contains(path) || section == "speech"
                ? nil : "cannot be set from a stick, only in the machine's own configuration; delete this line"
        }
    }

    /// Whether it names a card and nothing else: the library's names may hold whole devices, which write to files and start
    /// programs.
    private static func isCard(_ device: String) -> Bool {
        guard device.hasPrefix("alsa:") else { return false }
        let parts = device.dropFirst("alsa:".count).split(separator: ":", omittingEmptySubsequences: false)
        if parts == ["default"] { return true }
        let isPlain =
            parts.last?.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "=,_-".contains($0)) } ?? false
        return parts.count == 2 && ["plughw", "hw", "sysdefault", "dsnoop"].contains(parts[0]) && isPlain
            && !parts[1].isEmpty
    }
}
