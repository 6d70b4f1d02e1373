/// A page of its own: one file that loads nothing but what lies beside it and runs nothing but its own script.
struct Page {
    var title: String
    var styles: [String]
    var script: String

    /// SHA-256 of each style and of the script, in base64, as the page's policy names them.
    var digests: (styles: [String], script: String)

    /// Numbers and texts for the script, as JSON.
    var data: String
    var body: String

    var text: String {
        let allowedStyles = digests.styles.map { "'sha256-\($0)'" }.joined(separator: " ")
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta http-equiv="Content-Security-Policy" content="default-src 'none'; media-src 'self' file:; \
            style-src \(allowedStyles); script-src 'sha256-\(digests.script)'; base-uri 'none'; form-action 'none'">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="referrer" content="no-referrer">
            <meta name="generator" content="fieldscribe">
            <title>\(markup(title))</title>
            \(styles.map { "<style>\($0)</style>\n" }.joined())</head>
            <body>
            \(body)
            <script type="application/json" id="data">\(inScript(data))</script>
            <script>\(script)</script>
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

/// The digests of the pages' styles and scripts. They are written down, so that a page needs no cryptography; a test
/// compares them with what sha256sum says of the page and tells the right ones.
enum PageDigests {
    static let style = "TXhZsSxhfC21bZmJXLTq0S/qxP8VCUNMZFu/y+mVc2A="
    static let player = "24uFE1dsuFKEkDoczZGbfL6XcUSRyPYsgzo4ff7mHc4="
    static let index = "zj1FhjtOe443+ojBSRZhZUl6bCiKIidftTcRqD7fRVU="
    static let playerScript = "9PvvP7E0YcCN12TLJ1FMP10RaJKAfqkVB/yhELq0KXo="
    static let indexScript = "RuxXdlIPFMqJ0l+pwXoiITY6UuqgYnAJOjUA5TzD1H8="
}
