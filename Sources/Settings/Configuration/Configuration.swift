import Core
import Transcripts

/// What the configuration file says; every field has a default, so that none is needed.
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
    /// Who spoke, from one recording to the next.
    package var speakers = Speakers()
    /// `[usb]`.
    package var usb = USB()
    /// `[control]`.
    package var control = Control()

    /// The file that was read; nil where there was none and all is by default.
    package var file: String?

    /// The defaults.
    package init() {}
}

extension Configuration {
    /// `[capture]`: where sound comes from.
    package struct Capture: Hashable, Sendable {
        /// `alsa:NAME`, `file:PATH`, `file+fast:PATH` or `tone:HZ`. The default is `alsa:default`.
        package var device = "alsa:default"

        /// The rate asked of the device, 8,000 to 192,000 Hz; another is taken where it refuses. The default is 16,000.
        var rate = 16_000

        /// The number of channels asked of the device, 1 to 32: both of 2 are kept, more are mixed down. The default is 1.
        var channels = 1

        /// How many channels recordings have, 1 or 2.
        package var kept: Int { channels == 2 ? 2 : 1 }

        /// Seconds before the press that are kept, 0 to 30. The default is 0: none, and the microphone is closed.
        package var prerollSeconds = 0.0

        /// Seconds between two syncs of the recording, 0.1 to 1.5. The default is 1.
        package var syncSeconds = 1.0
    }

    /// `[recognizer]`: what reads the recordings.
    package struct Recognizer: Hashable, Sendable {
        /// What the words are likely to be.
        package enum Hint: String, Sendable, CaseIterable { case dictation, search, confirmation }

        /// What `engine` says for the best of those that it may choose from.
        static let automaticEngine = "auto"

        /// Whether to read twice; `automatic` leaves it to what the board can do.
        package enum SecondPass: String, Sendable {
            case automatic = "auto"
            case yes, no
        }

        /// What becomes of words that people have put right: preferred from the next recording on, proposed to be, or neither.
        package enum Learning: String, Sendable, CaseIterable { case yes, ask, no }

        /// The name of an engine, `auto` for the best of those that it may choose from, or
        /// `command:PROGRAM`, with arguments behind blanks, for one that speaks the protocol of decode workers. The default is
        /// `auto`.
        package var engine = automaticEngine

        /// The file of a model for whisper.cpp. The default is none.
        var whisperModel: String?

        /// The model: its folder, or its name among those that are installed. The default is where Debian's package
        /// pocketsphinx-en-us puts it.
        var model = "/usr/share/pocketsphinx/model/en-us"

        /// A language model in place of the model folder's own. The default is none.
        var languageModel: String?

        /// A pronouncing dictionary in place of the model folder's own. The default is none.
        var dictionary: String?

        /// A file of words and phrases to prefer. The default is none.
        var vocabulary: String?

        /// Whether words that people have put right are preferred. The default is `yes`.
        package var learn = Learning.yes

        /// The default is `dictation`.
        package var hint = Hint.dictation

        /// What is written between the words when a transcript is shown or copied. The default is `engine`: as it writes.
        package var punctuation = Punctuation.engine

        /// Whether a recording that has ended is read once more, slower and better. The default is `automatic`: where the
        /// board has time and memory for it.
        package var secondPass = SecondPass.automatic

        /// Whether it is told who spoke, and of how many people.
        package enum Speakers: Hashable, Sendable {
            case no
            /// As many as there seem to be.
            case automatic
            /// So many, 1 to 12.
            case exactly(Int)

            /// As the configuration says it.
            var text: String {
                switch self {
                case .no: "no"
                case .automatic: "auto"
                case .exactly(let count): "\(count)"
                }
            }

            /// What the configuration says; nil for what is none.
            package init?(_ text: String) {
                switch text {
                case "no", "false", "off": self = .no
                case "auto": self = .automatic
                default:
                    guard text.allSatisfy({ $0.isASCII && $0.isNumber }), let count = Int(text),
                        (1...12).contains(count)
                    else { return nil }
                    self = .exactly(count)
                }
            }

            /// How many people there are, where that is known.
            package var count: Int? { if case .exactly(let count) = self { count } else { nil } }
        }

        /// Whether it is told who spoke, and of how many people. The default is `no`.
        package var speakers = Speakers.no

        /// The folder of the model by which voices are told apart. The default is none: the one that a package has installed.
        var speakerModel: String?

        /// Decode workers, 0 to 64. The default is 0: one a core, as far as memory goes.
        package var workers = 0

        /// The defaults.
        init() {}
    }

    /// `[panel]`: the button and the lamp.
    package struct Panel: Hashable, Sendable {
        /// The default is `gpio:GPIO17`.
        package var button = PanelAddress.gpioName("GPIO17")

        /// The default is `gpio:GPIO26`.
        package var lamp = PanelAddress.gpioName("GPIO26")

        /// What a press while recording does. The default is `toggle`: it stops.
        package var style = PanelStyle.toggle

        /// How long a press has to be to count as held, 300 to 4,000 milliseconds. The default is 1,000.
        package var holdMilliseconds = 1_000

        /// Whether holding the button for 5 seconds while idle shuts the machine down. The default is no.
        package var shutdown = false
    }

    /// `[storage]`: where recordings are kept.
    package struct Storage: Hashable, Sendable {
        /// The default is `/var/lib/fieldscribe`.
        package var directory = "/var/lib/fieldscribe"

        /// Megabytes of the disk that recordings leave free, 16 to 1,000,000. The default is 256.
        package var reserveMegabytes = 256

        /// What becomes of a recording that a verified copy holds. The default is `keep`.
        package var afterExport = AfterExport.keep

        /// For whom recordings are sealed on the recorder itself, once they are transcribed: public keys, and paths of files of such.
        /// The default is none: they are kept as they are.
        package var seal: [String] = []
    }

    /// What becomes of a recording once a verified copy of it is elsewhere; nothing ever of one that was not copied.
    package enum AfterExport: Hashable, Sendable {
        case keep
        /// Erased so many days after it ended, 1 to 36,500.
        case eraseAfterDays(Int)
        /// Erased as soon as it was copied.
        case erase
    }

    /// `[speakers]`: who spoke, from one recording to the next.
    package struct Speakers: Hashable, Sendable {
        /// Whether the voices of people who were named are kept, and their names proposed in later recordings. The default is no.
        package var remember = false
    }

    /// `[export]`: what is written to a stick.
    package struct Export: Hashable, Sendable {
        /// The format of the copied sound, by its name in the configuration.
        package enum Audio: String, Sendable, CaseIterable { case flac, wav }

        /// Which sticks are written to: any, or only those that carry a folder `Fieldscribe`.
        package enum Accept: String, Sendable, CaseIterable { case any, marked }

        /// Which sticks are copied to when they are plugged in: any, those that somebody has made known, or none.
        package enum Sticks: String, Sendable, CaseIterable { case any, known, none }

        /// The default is every format but `jsonl`.
        package var formats = TranscriptFormat.allCases.filter(\.isUsual)

        /// How long a pause is that the format `qda` tells, in seconds, 1 to 60. The default is 3.
        package var pauseSeconds = 3

        /// The default is `flac`.
        package var audio = Audio.flac

        /// The default is `any`.
        package var accept = Accept.any

        /// The default is `any`.
        package var sticks = Sticks.any

        /// Whether settings are taken from a stick. The default is no.
        var settings = false

        /// The public key of minisign by which public keys that a stick brings are signed, where others are set; empty: none.
        var settingsKey = ""

        /// For whom copies are sealed: public keys, and paths of files of such; or `nobody` alone, for no copies at all. The default
        /// is none: copies are not sealed.
        package var recipients: [String] = []

        /// What `recipients` says for no copies at all.
        static let nobody = "nobody"
    }

    /// `[usb]`: what the board is to a laptop that its own USB port is connected to.
    package struct USB: Hashable, Sendable {
        /// Whether the laptop sees a read-only drive with the recordings. The default is no.
        package var drive = false
    }

    /// `[control]`: the socket by which other commands reach the appliance.
    package struct Control: Hashable, Sendable {
        /// At most 107 bytes. The default is `/run/fieldscribe/control.sock`.
        package var socket = "/run/fieldscribe/control.sock"

        /// Whose members may use the socket. The default is `fieldscribe`.
        package var group = "fieldscribe"
    }
}

extension Configuration {
    /// The archive's file.
    package var archivePath: String { "\(storage.directory)/archive.sqlite" }
}
