import Core

/// A request in its JSON form: the name of the command and its fields. `RequestField.all` has the allowed values.
struct RequestObject: Codable {
    enum Command: String, Codable, CaseIterable {
        case start, stop, toggle, pause, resume, mark, status, watch, press, release, lamp
        case list, show, pass, passes, search, history, delete, verify
        case redact = "strike"
        case exports, exported, exporting, claim, importing, adding, settings, laptop, open, lock
    }

    var command: Command
    /// For `mark`; for `exporting`, the message.
    var text: String?
    /// For `show`, `pass`, `passes`, `history`, `exports` and `importing`.
    var recording: Int?
    /// For `show`: the pass to show; nil for the default.
    var pass: Int?
    /// For `importing`.
    var part: ImportPart?
    /// For `delete` and `verify`.
    var recordings: [Int]?
    /// For `redact`.
    var strike: RedactionRequest?
    /// For `verify`: whether to skip the audio.
    var quick: Bool?
    /// For `exports`, instead of a recording.
    var volume: String?
    /// For `exported`.
    var entry: ExportEntry?
    /// For `exporting`.
    var export: Event.ExportState?
    /// For `open`: a private key, which is never logged.
    var key: String?
    /// For `open`: the source of the key. For `adding`: the folder's name.
    var name: String?
    /// For `laptop`.
    var connected: Bool?
    /// For `search`.
    var words: String?
    var limit: Int?
    /// For all requests to the archive.
    var directory: String?
    /// For `watch`.
    var partials: Bool?
}

// Omitted fields have defaults, so that clients of earlier versions work. `RequestField.all` checks every field, even
// if the command does not use it.
extension ControlRequest: Codable {
    package init(from decoder: any Decoder) throws {
        let object: RequestObject
        do { object = try RequestObject(from: decoder) } catch let error as DecodingError {
            throw RequestField.refusal(of: error) as (any Error)? ?? error
        } catch {
            // FoundationEssentials does not report which number it cannot represent.
            throw DeviceError(
                .unsupported, "control", "a number is fractional or out of range",
                remedy: "give whole numbers of at most 53 bits")
        }
        try object.check()
        let recording = object.recording ?? 0
        let recordings = object.recordings ?? []
        func archive(_ request: ArchiveRequest) -> ControlRequest { .archive(request, directory: object.directory) }
        switch object.command {
        case .start: self = .command(.start)
        case .stop: self = .command(.stop)
        case .toggle: self = .command(.toggle)
        case .pause: self = .command(.pause)
        case .resume: self = .command(.resume)
        case .mark: self = .command(.mark(text: object.text ?? ""))
        case .status: self = .status
        case .watch: self = .watch(partials: object.partials ?? false)
        case .press: self = .press
        case .release: self = .release
        case .lamp: self = .lamp
        case .exporting: self = .exporting(object.export ?? .started, message: object.text ?? "")
        case .claim: self = .claim
        case .laptop: self = .laptop(isConnected: object.connected ?? true)
        case .settings: self = .settings
        case .open:
            guard let key = object.key else {
                throw DeviceError(.unsupported, "control", "open: the key is missing; send a private key")
            }
            self = .open(key: key, name: object.name ?? "the key")
        case .lock: self = .lock
        case .list: self = archive(.list)
        case .show: self = archive(.show(recording: recording, pass: object.pass))
        case .passes: self = archive(.passes(recording: recording))
        case .pass: self = archive(.pass(recording: recording))
        case .search: self = archive(.search(words: object.words ?? "", limit: object.limit ?? 50))
        case .history: self = archive(.history(recording: object.recording))
        case .delete: self = archive(.delete(recordings: recordings))
        case .redact:
            guard let request = object.strike else {
                throw DeviceError(.unsupported, "control", "redact: the range is missing; send last, or from and to")
            }
            self = archive(.redact(request))
        case .verify: self = archive(.verify(recordings: recordings, isQuick: object.quick ?? false))
        case .exports:
            self = archive(object.volume.map { .exportsTo(volume: $0) } ?? .exportsOf(recording: recording))
        case .importing:
            guard let part = object.part else {
                throw DeviceError(.unsupported, "control", "importing: the part is missing; send a part of the file")
            }
            self = archive(.importing(part, recording: object.recording))
        case .adding: self = archive(.adding(folder: object.name ?? ""))
        case .exported:
            guard let entry = object.entry else {
                throw DeviceError(.unsupported, "control", "exported: the entry is missing; send the entry of the copy")
            }
            self = archive(.exported(entry))
        }
    }

    package func encode(to encoder: any Encoder) throws { try object.encode(to: encoder) }

    /// The command's name in JSON.
    var name: String { object.command.rawValue }

    private var object: RequestObject {
        switch self {
        case .command(.start): RequestObject(command: .start)
        case .command(.stop): RequestObject(command: .stop)
        case .command(.toggle): RequestObject(command: .toggle)
        case .command(.pause): RequestObject(command: .pause)
        case .command(.resume): RequestObject(command: .resume)
        case .command(.mark(let text)): RequestObject(command: .mark, text: text)
        case .status: RequestObject(command: .status)
        case .watch(let partials): RequestObject(command: .watch, partials: partials)
        case .press: RequestObject(command: .press)
        case .release: RequestObject(command: .release)
        case .lamp: RequestObject(command: .lamp)
        case .exporting(let state, let message): RequestObject(command: .exporting, text: message, export: state)
        case .claim: RequestObject(command: .claim)
        case .laptop(let isConnected): RequestObject(command: .laptop, connected: isConnected)
        case .settings: RequestObject(command: .settings)
        case .open(let key, let name): RequestObject(command: .open, key: key, name: name)
        case .lock: RequestObject(command: .lock)
        case .archive(let request, let directory): request.object(directory)
        }
    }
}

extension ArchiveRequest {
    fileprivate func object(_ directory: String?) -> RequestObject {
        var object: RequestObject =
            switch self {
            case .list: RequestObject(command: .list)
            case .show(let recording, let pass): RequestObject(command: .show, recording: recording, pass: pass)
            case .passes(let recording): RequestObject(command: .passes, recording: recording)
            case .importing(let part, let recording):
                RequestObject(command: .importing, recording: recording, part: part)
            case .pass(let recording): RequestObject(command: .pass, recording: recording)
            case .search(let words, let limit): RequestObject(command: .search, words: words, limit: limit)
            case .history(let recording): RequestObject(command: .history, recording: recording)
            case .delete(let recordings): RequestObject(command: .delete, recordings: recordings)
            case .redact(let request): RequestObject(command: .redact, strike: request)
            case .verify(let recordings, let isQuick):
                RequestObject(command: .verify, recordings: recordings, quick: isQuick ? true : nil)
            case .exportsOf(let recording): RequestObject(command: .exports, recording: recording)
            case .exportsTo(let volume): RequestObject(command: .exports, volume: volume)
            case .exported(let entry): RequestObject(command: .exported, entry: entry)
            case .adding(let folder): RequestObject(command: .adding, name: folder)
            }
        object.directory = directory
        return object
    }
}
