import Core

/// What a browser asks. Everything in it is a stranger's.
struct WebRequest: Sendable {
    /// `GET`, `HEAD`, `POST` ...
    var method: String
    /// The path, unescaped, with its slash at the beginning.
    var path: String
    /// What stands behind the question mark, unescaped.
    var query: [String: String] = [:]
    /// By their names in small letters.
    var headers: [String: String] = [:]
    /// What came along; empty until all of it is here.
    var body: [UInt8] = []
    /// The corrections in the body, which is then empty; nil if nothing has read them.
    var corrections: Result<SavedCorrections, DeviceError>?
    /// Who it is, where the handler knows that; else empty.
    var person = ""
    /// What the browser is to bring next time, as the header `Set-Cookie` has it; nil: nothing.
    var cookie: String?
}

/// What a browser is told.
struct WebResponse: Sendable {
    /// What follows the headers.
    enum Body: Sendable {
        /// These bytes.
        case bytes([UInt8])
        /// So many bytes of an open file, from a place on; whoever sends them closes the file.
        case file(Int32, from: Int64, count: Int64)
    }

    /// As HTTP numbers them.
    var status: Int
    /// Names and values, besides those of the connection itself.
    var headers: [(name: String, value: String)]
    /// What follows.
    var body: Body

    init(_ status: Int, _ headers: [(name: String, value: String)], _ body: Body) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}
