import Core

/// An HTTP request. All of it is untrusted.
struct WebRequest: Sendable {
    /// A body as another thread parsed it.
    enum Body: Sendable {
        case corrections(Result<SavedCorrections, DeviceError>)
        case added(DroppedFiles.Outcome)
    }

    /// `GET`, `HEAD`, `POST` ...
    var method: String
    /// Unescaped, with its leading slash.
    var path: String
    /// Unescaped.
    var query: [String: String] = [:]
    /// By name in lower case.
    var headers: [String: String] = [:]
    /// Empty until the whole body was received.
    var body: [UInt8] = []
    /// The body as another thread parsed it; `body` is then empty.
    var result: Body?
    /// The name that the client logged in with; empty if unknown.
    var person = ""
    /// The value of the response's header `Set-Cookie`.
    var cookie: String?
}

struct WebResponse {
    enum Body {
        case bytes([UInt8])
        /// Bytes of an open file. The sender closes the file.
        case file(Int32, from: Int64, count: Int64)
        /// Made while it is sent.
        case zip(ZipDownload)
    }

    var status: Int
    var headers: [(name: String, value: String)]
    var body: Body

    init(_ status: Int, _ headers: [(name: String, value: String)], _ body: Body) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}
