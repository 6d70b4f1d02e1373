import Core

/// A request on the wire: the command's name and its keys. `RequestField.all` has the allowed values of each key.
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
    var strike: RedactionOrder?
    /// For `verify`: whether to skip the audio.
    var quick: Bool?
    /// For `exports`, instead of a recording.
    var volume: String?
    /// For `exported`.
    var entry: ExportEntry?
    /// For `exporting`.
    var export: Event.ExportState?
    /// For `open`: a private key, which is never logged, and its source. For `adding`, the folder's name.
    var key: String?
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

// Omitted keys have defaults, so that clients of earlier versions work. All values are checked by `RequestField.all`,
// whichever command they belong to.
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
        case .start: self = .order(.start)
        case .stop: self = .order(.stop)
        case .toggle: self = .order(.toggle)
        case .pause: self = .order(.pause)
        case .resume: self = .order(.resume)
        case .mark: self = .order(.mark(text: object.text ?? ""))
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
                throw DeviceError(.unsupported, "control", "open: there is no key; give a private key")
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
            guard let order = object.strike else {
                throw DeviceError(.unsupported, "control", "redact: there is no range; give last, or from and to")
            }
            self = archive(.redact(order))
        case .verify: self = archive(.verify(recordings: recordings, isQuick: object.quick ?? false))
        case .exports:
            self = archive(object.volume.map { .exportsTo(volume: $0) } ?? .exportsOf(recording: recording))
        case .importing:
            guard let part = object.part else {
                throw DeviceError(.unsupported, "control", "importing: there is no part; give a part of the file")
            }
            self = archive(.importing(part, recording: object.recording))
        case .adding: self = archive(.adding(folder: object.name ?? ""))
        case .exported:
            guard let entry = object.entry else {
                throw DeviceError(.unsupported, "control", "exported: there is no entry; give the entry of the copy")
            }
            self = archive(.exported(entry))
        }
    }

    package func encode(to encoder: any Encoder) throws { try object.encode(to: encoder) }

    /// The command's name on the wire.
    var name: String { object.command.rawValue }

    private var object: RequestObject {
        switch self {
        case .order(.start): RequestObject(command: .start)
        case .order(.stop): RequestObject(command: .stop)
        case .order(.toggle): RequestObject(command: .toggle)
        case .order(.pause): RequestObject(command: .pause)
        case .order(.resume): RequestObject(command: .resume)
        case .order(.mark(let text)): RequestObject(command: .mark, text: text)
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
            case .redact(let order): RequestObject(command: .redact, strike: order)
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
