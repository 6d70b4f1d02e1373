/// An HTML page that runs only its own script, and loads only files from its folder or its server.
struct Page {
    var title: String
    var styles: [PagePart]
    var script: PagePart?
    /// JSON for the script.
    var data = ""
    var body: String
    /// The recording's identity; nil if unknown. Only a page with an identity may show files from its folder in frames.
    var identity: RecordingIdentity?
    /// Whether a server sends the page, which may then send requests to that server.
    var isServed = false

    var text: String {
        let allowedStyles = styles.map { "'sha256-\($0.digest)'" }.joined(separator: " ")
        let frames = identity == nil || isServed ? "" : "frame-src 'self' file:; "
        let sources = isServed ? "media-src 'self'; connect-src 'self'; " : "media-src 'self' file:; "
        let allowedScript = script.map { "script-src 'sha256-\($0.digest)'; " } ?? ""
        let scripts = script.map { script in
            """
            <script type="application/json" id="data">\(inScript(data))</script>
            <script>\(script.text)</script>

            """
        }
        let identityTag = identity.map { "<meta name=\"fieldscribe\" content=\"\($0.text)\">\n" } ?? ""
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta http-equiv="Content-Security-Policy" content="default-src 'none'; \(sources)\(frames)\
            style-src \(allowedStyles); \(allowedScript)base-uri 'none'; form-action \(isServed ? "'self'" : "'none'")">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="referrer" content="no-referrer">
            <meta name="generator" content="fieldscribe">
            \(identityTag)<title>\(markup(title))</title>
            \(styles.map { "<style>\($0.text)</style>\n" }.joined())</head>
            <body>
            \(body)
            \(scripts ?? "")</body>
            </html>

            """
    }

    /// Escapes JSON so that it cannot end the script element in an HTML parser, or a string in old JavaScript engines.
    private func inScript(_ json: String) -> String {
        var escaped = ""
        escaped.reserveCapacity(json.utf8.count)
        for scalar in json.unicodeScalars {
            switch scalar {
            case "<": escaped += "\\u003c"
            case ">": escaped += "\\u003e"
            case "&": escaped += "\\u0026"
            case "\u{2028}": escaped += "\\u2028"
            case "\u{2029}": escaped += "\\u2029"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}

/// Returns a web server's page in the style of the index.
///
/// - Parameters:
///   - style: An additional style sheet.
///   - script: The page's script; nil if it has none.
///   - body: HTML.
package func servedListPage(title: String, style: String, script: String? = nil, body: String) -> String {
    Page(
        title: title, styles: [.sharedStyle, .indexStyle, PagePart(style)], script: script.map { PagePart($0) },
        body: body, isServed: true
    ).text
}
