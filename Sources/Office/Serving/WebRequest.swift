import Core

/// An HTTP request. All of it is untrusted.
struct WebRequest: Sendable {
    /// The result of handling the body on another thread.
    enum Body: Sendable {
        case corrections(Result<SavedCorrections, DeviceError>)
        case added(DroppedFiles.Outcome)
    }

    var method: String
    /// The percent-decoded path, with its leading slash.
    var path: String
    /// The percent-decoded fields of the query.
    var query: [String: String] = [:]
    /// The headers, by name in lower case.
    var headers: [String: String] = [:]
    /// The part of the body that was received.
    var body: [UInt8] = []
    /// The result of handling the body on another thread, after which `body` is empty.
    var result: Body?
    var person = ""
    /// The value of the response's `Set-Cookie` header.
    var cookie: String?
}

struct WebResponse {
    enum Body {
        case bytes([UInt8])
        /// Bytes of a file with an open descriptor, which the sender closes.
        case file(Int32, from: Int64, count: Int64)
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
