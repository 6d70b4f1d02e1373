import Audio
import Core
import Recognition
import Transcripts

/// The settings; every one has a default.
package struct Configuration: Hashable, Sendable {
    /// `[capture]`.
    package var capture = Capture()
    /// `[speech]`.
    package var speech = SpeechSettings()
    /// `[recognizer]`.
    package var recognizer = Recognizer()
    /// `[panel]`.
    package var panel = Panel()
    /// `[storage]`.
    package var storage = Storage()
    /// `[export]`.
    package var export = Export()
    /// `[speakers]`.
    package var speakers = Speakers()
    /// `[usb]`.
    package var usb = USB()
    /// `[control]`.
    package var control = Control()

    /// The file that was read; nil for defaults only.
    package var file: String?

    /// The defaults.
    package init() {}
}

extension Configuration {
    /// `[capture]`: the sound's source.
    package struct Capture: Hashable, Sendable {
        /// `alsa:NAME`, `file:PATH`, `file+fast:PATH` or `tone:HZ`. The default is `alsa:default`.
        package var device = "alsa:default"

        /// The sample rate to request, 8,000 to 192,000 Hz; if the device refuses it, another is used. The default is
        /// 16,000.
        var rate = 16_000

        /// The number of channels to request, 1 to 32: both of 2 are kept, more are mixed down. The default is 1.
        var channels = 1

        /// The number of channels of recordings, 1 or 2.
        package var kept: Int { channels == 2 ? 2 : 1 }

        /// Seconds of sound to keep from before the press, 0 to 30. The default is 0, with the microphone closed while
        /// idle.
        package var prerollSeconds = 0.0

        /// Seconds between two syncs of the recording, 0.1 to 1.5. The default is 1.
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
        /// speaks the protocol of decode workers. The default is `auto`.
        package var engine = EngineRegistry.automaticName

        /// The model file for whisper.cpp. The default is none.
        var whisperModel: String?

        /// The model: a folder, or the name of an installed one. The default is the folder of Debian's package
        /// pocketsphinx-en-us.
        var model = "/usr/share/pocketsphinx/model/en-us"

        /// The language of the speech, which chooses among installed models unless `model` names one. The default is empty: the
        /// model's.
        package var language = ""

        /// A language model to use instead of the model folder's. The default is none.
        var languageModel: String?

        /// A pronouncing dictionary to use instead of the model folder's. The default is none.
        var dictionary: String?

        /// A file of words and phrases to prefer. The default is none.
        var vocabulary: String?

        /// Whether to prefer corrected words. The default is `yes`.
        package var learn = Learning.yes

        /// The default is `dictation`.
        package var hint = RecognitionHint.dictation

        /// Which punctuation transcripts get when they are shown or copied. The default is `engine`: the engine's own.
        package var punctuation = Punctuation.engine

        /// Whether to transcribe an ended recording again with more effort. The default is `automatic`: if the board has
        /// time and memory for it.
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

            /// The number of speakers, if known.
            package var count: Int? { if case .exactly(let count) = self { count } else { nil } }
        }

        /// Whether to identify speakers, and how many there are. The default is `no`.
        package var speakers = Speakers.no

        /// The folder of the voice embedding model. The default is none: an installed package's.
        var speakerModel: String?

        /// The number of decode workers, 0 to 64. The default is 0: one per core, as far as memory allows.
        package var workers = 0
    }

    /// `[panel]`: the button and the lamp.
    package struct Panel: Hashable, Sendable {
        /// The default is `gpio:GPIO17`.
        package var button = PanelAddress.gpioName("GPIO17")

        /// The default is `gpio:GPIO26`.
        package var lamp = PanelAddress.gpioName("GPIO26")

        /// What a press during a recording does. The default is `toggle`: it stops the recording.
        package var style = PanelStyle.toggle

        /// How long a press must last to count as held, 300 to 4,000 milliseconds. The default is 1,000.
        package var holdMilliseconds = 1_000

        /// Whether holding the button for 5 seconds while idle shuts the machine down. The default is no.
        package var shutdown = false
    }

    /// `[storage]`: where recordings are kept, and for how long.
    package struct Storage: Hashable, Sendable {
        /// The default is `/var/lib/fieldscribe`.
        package var directory = "/var/lib/fieldscribe"

        /// Megabytes of disk space to leave free, 16 to 1,000,000. The default is 256.
        package var reserveMegabytes = 256

        /// What to do with a recording that has a verified copy. The default is `keep`.
        package var afterExport = AfterExport.keep

        /// The public keys, or paths of files of public keys, to which recordings are encrypted on the recorder once they
        /// are transcribed. The default is none.
        package var seal: [String] = []
    }

    /// What to do with a recording once it has a verified copy. One without a copy is never erased.
    package enum AfterExport: Hashable, Sendable {
        case keep
        /// Erase this many days after its end, 1 to 36,500.
        case eraseAfterDays(Int)
        /// Erase once it is copied.
        case erase
    }

    /// `[speakers]`: recognizing people across recordings.
    package struct Speakers: Hashable, Sendable {
        /// Whether to keep the voices of named people and propose their names in later recordings. The default is no.
        package var remember = false
    }

    /// `[export]`: copies to sticks and folders.
    package struct Export: Hashable, Sendable {
        /// Which sticks to write to: any, or only those with a folder `Fieldscribe`.
        package enum Accept: String, Sendable, CaseIterable { case any, marked }

        /// Which sticks to copy to when they are plugged in: any, registered ones, or none.
        package enum Sticks: String, Sendable, CaseIterable { case any, known, none }

        /// The default is every format with `isUsual`.
        package var formats = TranscriptFormat.allCases.filter(\.isUsual)

        /// How long a pause must be for the format `qda` to mention it, in seconds, 1 to 60. The default is 3.
        package var pauseSeconds = 3

        /// The default is `flac`.
        package var audio = AudioForm.flac

        /// The default is `any`.
        package var accept = Accept.any

        /// The default is `any`.
        package var sticks = Sticks.any

        /// Whether to accept settings from a stick. The default is no.
        var settings = false

        /// The minisign public key that signs the public keys on a stick, required if others are set; empty for none.
        var settingsKey = ""

        /// The public keys, or paths of files of public keys, to which copies are encrypted; or just `nobody`, for no
        /// copies. The default is none: copies are not encrypted.
        package var recipients: [String] = []

        /// The `recipients` value for no copies.
        static let nobody = "nobody"
    }

    /// `[usb]`: what a laptop sees on the board's own USB port.
    package struct USB: Hashable, Sendable {
        /// Whether the laptop sees a read-only drive with the recordings. The default is no.
        package var drive = false
    }

    /// `[control]`: the socket that other commands use to reach the appliance.
    package struct Control: Hashable, Sendable {
        /// At most 107 bytes. The default is `/run/fieldscribe/control.sock`.
        package var socket = "/run/fieldscribe/control.sock"

        /// The group whose members may use the socket. The default is `fieldscribe`.
        package var group = "fieldscribe"
    }
}

extension Configuration {
    /// The path of the archive's database.
    package var archivePath: String { "\(storage.directory)/archive.sqlite" }
}
