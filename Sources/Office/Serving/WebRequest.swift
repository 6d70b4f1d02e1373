import Core

/// An HTTP request. All of it is untrusted.
struct WebRequest: Sendable {
    /// The result of handling the body on another thread.
    enum Body: Sendable {
        case corrections(Result<SavedCorrections, DeviceError>)
        case added(DroppedFiles.Outcome)
    }

    /// The method, such as `GET`, `HEAD` or `POST`.
    var method: String
    /// The unescaped path, with its leading slash.
    var path: String
    /// The unescaped fields of the query.
    var query: [String: String] = [:]
    /// The headers by name, in lower case.
    var headers: [String: String] = [:]
    /// The body; empty until all of it was received.
    var body: [UInt8] = []
    /// The result of handling the body on another thread; `body` is then empty.
    var result: Body?
    /// The login name; empty if unknown.
    var person = ""
    /// The value of the response's `Set-Cookie` header.
    var cookie: String?
}

struct WebResponse {
    enum Body {
        case bytes([UInt8])
        /// Bytes of an open file. The sender closes the file.
        case file(Int32, from: Int64, count: Int64)
        /// A ZIP file that is made while it is sent.
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
