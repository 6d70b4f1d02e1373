/// A page of its own: one file that loads nothing but what lies beside it and runs nothing but its own script.
struct Page {
    var title: String
    var styles: [PagePart]
    var script: PagePart

    /// Numbers and texts for the script, as JSON.
    var data: String
    var body: String

    /// Which recording it is of; nil where it is of none. Only then may it show what lies beside it.
    var identity: RecordingIdentity?

    var text: String {
        let allowedStyles = styles.map { "'sha256-\($0.digest)'" }.joined(separator: " ")
        let frames = identity == nil ? "" : "frame-src 'self' file:; "
        let known = identity.map { "<meta name=\"fieldscribe\" content=\"\($0.text)\">\n" } ?? ""
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta http-equiv="Content-Security-Policy" content="default-src 'none'; media-src 'self' file:; \(frames)\
            style-src \(allowedStyles); script-src 'sha256-\(script.digest)'; base-uri 'none'; form-action 'none'">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="referrer" content="no-referrer">
            <meta name="generator" content="fieldscribe">
            \(known)<title>\(markup(title))</title>
            \(styles.map { "<style>\($0.text)</style>\n" }.joined())</head>
            <body>
            \(body)
            <script type="application/json" id="data">\(inScript(data))</script>
            <script>\(script.text)</script>
            </body>
            </html>

            """
    }

    /// JSON that no parser of HTML or of old JavaScript can take for the end of a script.
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
