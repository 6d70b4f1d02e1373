import Core
import Glibc
import Office
import System
import Transcripts

enum ServeCommand: Command {
    static let name = "serve"
    static let summary = "Read, search and correct recordings in a browser."
    private static let port = Option.number(
        "--port", "default \(defaultPort); 0 uses any free port and prints it", in: 0...65_535)
    private static let address = Option(
        "--listen", "ADDRESS",
        "an address of this machine; default 127.0.0.1. An address that other machines can reach needs --password-file")
    private static let socket = Option(
        "--socket", "PATH",
        "listen on a Unix socket instead of a port, for this user and group; an existing socket is replaced if no process listens on it",
        .files)
    private static let passwordFile = Option(
        "--password-file", "FILE",
        "the first line is the password for browsers, with any user name; only the file's owner or group may read it",
        .files)
    private static let hosts = Option(
        repeated: "--host", "NAME", "a host name that browsers use for the pages, such as a proxy's; may be repeated")
    static let help: [any HelpPart] = [
        """
        Serves a list of all recordings with a search, and each recording's page with its sound, until you stop it. By default only
        this machine can connect. Connections are not encrypted; the manual explains how to run it behind a proxy that encrypts them.
        """,
        port, address, socket, passwordFile, hosts, WorkCommand.program, Option.archive, Option.files,
        "Exit status: 0 stopped; 1 could not continue; 3 the archive does not exist.",
    ]

    private static let defaultPort = 8_737
    private static let minimumPasswordLength = 8
    private static let maximumPasswordBytes = 1_000
    /// The timeout for a database server, in seconds. The server answers no other request while it waits.
    private static let timeout = 10

    static func run(_ arguments: Arguments) throws {
        let port = arguments[port] ?? defaultPort
        guard arguments[socket] == nil || (arguments[Self.port] == nil && arguments[address] == nil) else {
            throw arguments.usage("--socket cannot be combined with --port or --listen")
        }
        let password = try arguments[passwordFile].map(password)
        let open = { @Sendable () throws(DeviceError) -> any OfficeArchive in
            try rethrowing { try ArchiveChoice.open(arguments, timeout: timeout) }
        }
        let archive = try open()
        let listener = try Self.listener(arguments, port: port)
        if !listener.isLocal {
            guard password != nil else {
                throw arguments.usage(
                    "--listen \(arguments[address] ?? ""): other machines can reach this address, so --password-file FILE is needed"
                )
            }
            Terminal.say(
                "fieldscribe-office: the password and all pages cross the network unencrypted; use a proxy with TLS"
            )
        }
        let url = listener.address
        let access = SiteAccess(
            password: password, hostNames: hostNames(arguments, listener.host, requiresPassword: password != nil))
        let site = OfficeSite(archive, access: access, transcriber: arguments[WorkCommand.program], open: open) {
            Terminal.say("fieldscribe-office: \(oneLine($0))")
        }
        Interrupts.handle()
        let server = try WebServer(listener, serving: site)
        try Terminal.print("\(archive.name) is at \(url)\n")
        try server.run { !Interrupts.isRequested }
    }

    private static func listener(_ arguments: Arguments, port: Int) throws(DeviceError) -> WebListener {
        if let path = arguments[socket] { return try WebListener(path: path) }
        return try WebListener(host: arguments[address] ?? "127.0.0.1", port: port)
    }

    /// Returns the host names that requests may use; nil for any name, which is safe with a password or on a Unix socket.
    ///
    /// - Parameter host: the listener's address; nil for a Unix socket.
    private static func hostNames(_ arguments: Arguments, _ host: String?, requiresPassword: Bool) -> Set<String>? {
        let names = arguments[hosts].map { $0.lowercased() }
        guard let host else { return names.isEmpty ? nil : Set(names) }
        if requiresPassword, names.isEmpty { return nil }
        return Set(names + ["localhost", "127.0.0.1", "[::1]", host.contains(":") ? "[\(host)]" : host])
    }

    /// Reads the password from the first line of a file. Rejects a file that other users may access.
    private static func password(in path: String) throws(DeviceError) -> String {
        let file = try FileDescriptor(opening: path, O_RDONLY | O_NONBLOCK)
        let status = try file.status()
        guard status.kind == .file else {
            throw DeviceError(
                .unsupported, "read", on: path, "is \(status.kind.rawValue), not a file",
                remedy: "specify a file with a password in its first line")
        }
        guard status.permissions & 0o007 == 0 else {
            throw DeviceError(
                .denied, "read", on: path, "other users may access it", remedy: "run chmod 600 \(path)")
        }
        let bytes = try file.bytes(count: 4_096).prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
        let line = String(validating: bytes, as: UTF8.self).map { String($0.trimmingPrefix("\u{FEFF}")) }
        if let problem = problem(ofPassword: line) {
            throw DeviceError(
                .unsupported, "read", on: path, "its first line \(problem)",
                remedy: "create one with head -c 12 /dev/urandom | base64 > \(path)")
        }
        return line ?? ""
    }

    /// Returns why a password cannot be typed or is too easy to guess; nil if it is acceptable.
    ///
    /// - Parameter password: nil if it is not valid UTF-8.
    private static func problem(ofPassword password: String?) -> String? {
        guard let password else { return "is not a password: it is not UTF-8" }
        let isBlank = { (character: Character) in character.isWhitespace }
        guard password.count >= minimumPasswordLength, !password.allSatisfy(isBlank) else {
            return "is not a password of at least \(minimumPasswordLength) characters"
        }
        guard password.utf8.count <= maximumPasswordBytes else {
            return "is longer than \(maximumPasswordBytes) bytes"
        }
        if password.first.map(isBlank) == true || password.last.map(isBlank) == true {
            return "begins or ends with a space, which is invisible"
        }
        let isHidden = password.unicodeScalars.contains { scalar in
            [.control, .format, .unassigned, .privateUse].contains(scalar.properties.generalCategory)
        }
        return isHidden ? "contains characters that nobody can type" : nil
    }
}
