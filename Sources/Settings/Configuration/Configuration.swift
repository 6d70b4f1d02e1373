import Audio
import Core
import Recognition
import Transcripts

/// The settings, each of which has a default.
package struct Configuration: Hashable, Sendable {
    package var capture = Capture()
    package var speech = SpeechSettings()
    package var recognizer = Recognizer()
    package var panel = Panel()
    package var storage = Storage()
    package var export = Export()
    package var speakers = Speakers()
    package var usb = USB()
    package var control = Control()

    /// The path of the file that was read; nil if only defaults are used.
    package var file: String?

    package init() {}
}

extension Configuration {
    /// `[capture]`: the audio source.
    package struct Capture: Hashable, Sendable {
        /// `alsa:NAME`, `file:PATH`, `file+fast:PATH` or `tone:HZ`.
        package var device = "alsa:default"

        /// The sample rate to request, 8,000 to 192,000 Hz; if the device refuses it, another is used.
        var rate = 16_000

        /// The number of channels to request, 1 to 32. Two channels are both recorded; more are mixed down to one.
        var channels = 1

        /// The number of channels in recordings, 1 or 2.
        package var recordedChannels: Int { channels == 2 ? 2 : 1 }

        /// The seconds of audio before the press to include, 0 to 30. If 0, the microphone is closed while idle.
        package var prerollSeconds = 0.0

        /// The seconds between two syncs of the recording, 0.1 to 1.5.
        package var syncSeconds = 1.0
    }

    /// `[recognizer]`: transcription.
    package struct Recognizer: Hashable, Sendable {
        /// Whether to run the second pass; `automatic` lets the board's speed and memory decide.
        package enum SecondPass: String, Sendable {
            case automatic = "auto"
            case yes, no
        }

        /// What to do with corrected words: prefer them in the next recordings, propose them, or neither.
        package enum Learning: String, Sendable, CaseIterable { case yes, ask, no }

        /// The name of an engine, `auto` for the best available one, or `command:PROGRAM ARGUMENTS` for a program that
        /// speaks the decode-worker protocol.
        package var engine = EngineRegistry.automaticName

        /// The path of the model file, which whisper.cpp requires; nil if there is none.
        var whisperModel: String?

        /// The path of a model's folder, or the name of an installed model. The default is the folder of Debian's
        /// package pocketsphinx-en-us.
        var model = "/usr/share/pocketsphinx/model/en-us"

        /// The language of the speech, which chooses among the installed models unless `model` names one. Empty for the
        /// model's language.
        package var language = ""

        /// The path of a language model that replaces the one in the model's folder; nil to use that one.
        var languageModel: String?

        /// The path of a pronouncing dictionary that replaces the one in the model's folder; nil to use that one.
        var dictionary: String?

        var vocabulary: String?

        package var learn = Learning.yes

        package var hint = RecognitionHint.dictation

        /// How transcripts are punctuated when they are shown or copied.
        package var punctuation = Punctuation.engine

        /// Whether to transcribe finished recordings again, more accurately.
        package var secondPass = SecondPass.automatic

        /// Whether to identify speakers, and how many to expect.
        package enum Speakers: Hashable, Sendable {
            case no
            case automatic
            /// A known number of speakers, 1 to 12.
            case exactly(Int)

            /// The value in the configuration file.
            var text: String {
                switch self {
                case .no: "no"
                case .automatic: "auto"
                case .exactly(let count): "\(count)"
                }
            }

            /// Parses the value; nil if it is invalid.
            package init?(_ text: String) {
                switch text {
                case "no", "false", "off": self = .no
                case "auto": self = .automatic
                default:
                    guard let count = Int(text), (1...12).contains(count), !text.hasPrefix("+") else { return nil }
                    self = .exactly(count)
                }
            }

            package var count: Int? { if case .exactly(let count) = self { count } else { nil } }
        }

        package var speakers = Speakers.no

        /// The path of the voice embedding model's folder; nil to use the installed package.
        var speakerModel: String?

        /// The number of decode workers, 0 to 64; 0 for one per core, as far as memory allows.
        package var workers = 0
    }

    /// `[panel]`: the button and the lamp.
    package struct Panel: Hashable, Sendable {
        package var button = PanelAddress.gpioName("GPIO17")

        package var lamp = PanelAddress.gpioName("GPIO26")

        /// What a press during a recording does.
        package var style = PanelStyle.toggle

        /// The minimum length of a press that counts as held, 300 to 4,000.
        package var holdMilliseconds = 1_000

        /// Whether holding the button for 5 seconds while idle shuts the machine down.
        package var shutdown = false
    }

    /// `[storage]`: where recordings are stored, and for how long.
    package struct Storage: Hashable, Sendable {
        package var directory = "/var/lib/fieldscribe"

        /// The megabytes of disk space to leave free, 16 to 1,000,000.
        package var reserveMegabytes = 256

        package var afterExport = AfterExport.keep

        /// The public keys, or paths of public-key files, to which recordings are encrypted on the recorder once they
        /// are transcribed.
        package var seal: [String] = []
    }

    /// What to do with a recording once it has a verified copy. A recording without a copy is never erased.
    package enum AfterExport: Hashable, Sendable {
        case keep
        /// Erase the recording this many days after its end, 1 to 36,500.
        case eraseAfterDays(Int)
        case erase
    }

    /// `[speakers]`: recognizing people across recordings.
    package struct Speakers: Hashable, Sendable {
        /// Whether to save the voices of named people and propose their names in later recordings.
        package var remember = false
    }

    /// `[export]`: copies to sticks and folders.
    package struct Export: Hashable, Sendable {
        /// The sticks to write to: any, or only those that have a folder `Fieldscribe`.
        package enum Accept: String, Sendable, CaseIterable { case any, marked }

        /// The sticks to copy to when they are plugged in: any, allowed ones, or none.
        package enum Sticks: String, Sendable, CaseIterable { case any, known, none }

        package var formats = TranscriptFormat.allCases.filter(\.isUsual)

        /// The minimum length of the pauses that the format `qda` mentions, 1 to 60.
        package var pauseSeconds = 3

        package var audio = AudioFormat.flac

        package var accept = Accept.any

        package var sticks = Sticks.any

        var settings = false

        /// The minisign public key that verifies the signature of the public keys on a stick; empty if there is none.
        /// A stick's keys must be signed if other keys are already set.
        var settingsKey = ""

        /// The public keys, or paths of public-key files, to which copies are encrypted; or only `nobody`, to make no
        /// copies. If empty, copies are not encrypted.
        package var recipients: [String] = []

        /// The `recipients` value that prevents all copies.
        static let nobody = "nobody"
    }

    /// `[usb]`: what a laptop sees when it is connected to the board's own USB port.
    package struct USB: Hashable, Sendable {
        /// Whether the laptop sees a read-only drive with the recordings.
        package var drive = false
    }

    /// `[control]`: the socket that other commands use to reach the appliance.
    package struct Control: Hashable, Sendable {
        /// The socket's path, at most 107 bytes.
        package var socket = "/run/fieldscribe/control.sock"

        package var group = "fieldscribe"
    }
}

extension Configuration {
    package var archivePath: String { "\(storage.directory)/archive.sqlite" }
}
