/// A self-contained HTML page: loads only files in its folder and runs only its own script.
struct Page {
    var title: String
    var styles: [PagePart]
    var script: PagePart?
    /// JSON for the script.
    var data = ""
    var body: String
    /// The recording; nil if there is none. Only then may it show files in its folder.
    var identity: RecordingIdentity?
    /// Whether it is served, and may send requests to its server.
    var isServed = false

    var text: String {
        let allowedStyles = styles.map { "'sha256-\($0.digest)'" }.joined(separator: " ")
        let frames = identity == nil || isServed ? "" : "frame-src 'self' file:; "
        let sources = isServed ? "media-src 'self'; connect-src 'self'; " : "media-src 'self' file:; "
        let runs = script.map { "script-src 'sha256-\($0.digest)'; " } ?? ""
        let scripts = script.map { script in
            """
            <script type="application/json" id="data">\(inScript(data))</script>
            <script>\(script.text)</script>

            """
        }
        let known = identity.map { "<meta name=\"fieldscribe\" content=\"\($0.text)\">\n" } ?? ""
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta http-equiv="Content-Security-Policy" content="default-src 'none'; \(sources)\(frames)\
            style-src \(allowedStyles); \(runs)base-uri 'none'; form-action \(isServed ? "'self'" : "'none'")">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="referrer" content="no-referrer">
            <meta name="generator" content="fieldscribe">
            \(known)<title>\(markup(title))</title>
            \(styles.map { "<style>\($0.text)</style>\n" }.joined())</head>
            <body>
            \(body)
            \(scripts ?? "")</body>
            </html>

            """
    }

    /// Escapes JSON so that HTML parsers and old JavaScript cannot end the script in it.
    private func inScript(_ json: String) -> String {
        var safe = ""
        safe.reserveCapacity(json.utf8.count)
        for scalar in json.unicodeScalars {
            switch scalar {
            case "<": safe += "\\u003c"
            case ">": safe += "\\u003e"
            case "&": safe += "\\u0026"
            case "\u{2028}": safe += "\\u2028"
            case "\u{2029}": safe += "\\u2029"
            default: safe.unicodeScalars.append(scalar)
            }
        }
        return safe
    }
}

/// Returns a page of a web server with the style of the index.
///
/// - Parameters:
///   - style: A style sheet for the rest.
///   - script: nil for none.
///   - body: HTML.
package func servedListPage(title: String, style: String, script: String? = nil, body: String) -> String {
    Page(
        title: title, styles: [.sharedStyle, .indexStyle, PagePart(style)], script: script.map { PagePart($0) },
        body: body, isServed: true
    ).text
}
