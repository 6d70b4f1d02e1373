import Audio
import Core
import Recognition
import Transcripts

/// The settings; every one has a default.
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

    /// The file that was read; nil for defaults only.
    package var file: String?

    package init() {}
}

extension Configuration {
    /// `[capture]`: the sound's source.
    package struct Capture: Hashable, Sendable {
        /// `alsa:NAME`, `file:PATH`, `file+fast:PATH` or `tone:HZ`.
        package var device = "alsa:default"

        /// The sample rate to request, 8,000 to 192,000 Hz; if the device refuses it, another is used.
        var rate = 16_000

        /// The number of channels to request, 1 to 32: both of 2 are kept, more are mixed down.
        var channels = 1

        /// The number of channels of recordings, 1 or 2.
        package var kept: Int { channels == 2 ? 2 : 1 }

        /// Seconds of sound to keep from before the press, 0 to 30. With 0, the microphone is closed while idle.
        package var prerollSeconds = 0.0

        /// Seconds between two syncs of the recording, 0.1 to 1.5.
        package var syncSeconds = 1.0
    }

    /// `[recognizer]`: transcription.
    package struct Recognizer: Hashable, Sendable {
        /// Whether to run the second pass; `automatic` decides by the board.
        package enum SecondPass: String, Sendable {
            case automatic = "auto"
            case yes, no
        }

        /// What to do with corrected words: prefer them in the next recordings, propose them, or neither.
        package enum Learning: String, Sendable, CaseIterable { case yes, ask, no }

        /// The name of an engine, `auto` for the best available one, or `command:PROGRAM` with arguments for a program that
        /// speaks the protocol of decode workers.
        package var engine = EngineRegistry.automaticName

        /// The model file, which whisper.cpp requires; nil for none.
        var whisperModel: String?

        /// The model: a folder, or the name of an installed one. The default is the folder of Debian's package
        /// pocketsphinx-en-us.
        var model = "/usr/share/pocketsphinx/model/en-us"

        /// The language of the speech, which chooses among installed models unless `model` names one. Empty for the model's.
        package var language = ""

        /// A language model to use instead of the model folder's; nil for that one.
        var languageModel: String?

        /// A pronouncing dictionary to use instead of the model folder's; nil for that one.
        var dictionary: String?

        /// A file of words and phrases to prefer; nil for none.
        var vocabulary: String?

        package var learn = Learning.yes

        package var hint = RecognitionHint.dictation

        /// Which punctuation transcripts get when they are shown or copied.
        package var punctuation = Punctuation.engine

        /// Whether to transcribe ended recordings again with more effort; `automatic`: if time and memory allow it.
        package var secondPass = SecondPass.automatic

        /// Whether to identify speakers, and how many there are.
        package enum Speakers: Hashable, Sendable {
            case no
            /// Estimates the number of speakers.
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

        /// The folder of the voice embedding model; nil for an installed package's.
        var speakerModel: String?

        /// Decode workers, 0 to 64; 0 for one per core, as far as memory allows.
        package var workers = 0
    }

    /// `[panel]`: the button and the lamp.
    package struct Panel: Hashable, Sendable {
        package var button = PanelAddress.gpioName("GPIO17")

        package var lamp = PanelAddress.gpioName("GPIO26")

        /// What a press during a recording does.
        package var style = PanelStyle.toggle

        /// How long a press must last to count as held, 300 to 4,000.
        package var holdMilliseconds = 1_000

        /// Whether holding the button for 5 seconds while idle shuts the machine down.
        package var shutdown = false
    }

    /// `[storage]`: where recordings are kept, and for how long.
    package struct Storage: Hashable, Sendable {
        package var directory = "/var/lib/fieldscribe"

        /// Megabytes of disk space to leave free, 16 to 1,000,000.
        package var reserveMegabytes = 256

        package var afterExport = AfterExport.keep

        /// The public keys, or paths of files of public keys, to which recordings are encrypted on the recorder once they
        /// are transcribed.
        package var seal: [String] = []
    }

    /// What to do with a recording once it has a verified copy. One without a copy is never erased.
    package enum AfterExport: Hashable, Sendable {
        case keep
        /// Erase this many days after its end, 1 to 36,500.
        case eraseAfterDays(Int)
        case erase
    }

    /// `[speakers]`: recognizing people across recordings.
    package struct Speakers: Hashable, Sendable {
        /// Whether to keep the voices of named people and propose their names in later recordings.
        package var remember = false
    }

    /// `[export]`: copies to sticks and folders.
    package struct Export: Hashable, Sendable {
        /// Which sticks to write to: any, or only those with a folder `Fieldscribe`.
        package enum Accept: String, Sendable, CaseIterable { case any, marked }

        /// Which sticks to copy to when they are plugged in: any, registered ones, or none.
        package enum Sticks: String, Sendable, CaseIterable { case any, known, none }

        package var formats = TranscriptFormat.allCases.filter(\.isUsual)

        /// How long a pause must be for the format `qda` to mention it, 1 to 60.
        package var pauseSeconds = 3

        package var audio = AudioForm.flac

        package var accept = Accept.any

        package var sticks = Sticks.any

        /// Whether to accept settings from a stick.
        var settings = false

        /// The minisign public key that signs the public keys on a stick, required if others are set; empty for none.
        var settingsKey = ""

        /// The public keys, or paths of files of public keys, to which copies are encrypted; or just `nobody`, for no
        /// copies. If empty, copies are not encrypted.
        package var recipients: [String] = []

        /// The `recipients` value for no copies.
        static let nobody = "nobody"
    }

    /// `[usb]`: what a laptop sees on the board's own USB port.
    package struct USB: Hashable, Sendable {
        /// Whether the laptop sees a read-only drive with the recordings.
        package var drive = false
    }

    /// `[control]`: the socket that other commands use to reach the appliance.
    package struct Control: Hashable, Sendable {
        /// At most 107 bytes.
        package var socket = "/run/fieldscribe/control.sock"

        /// The group whose members may use the socket.
        package var group = "fieldscribe"
    }
}

extension Configuration {
    package var archivePath: String { "\(storage.directory)/archive.sqlite" }
}
