import FoundationEssentials
import Transcripts

extension OfficeSite {
    /// The response to a page's script.
    private struct ScriptResponse: Encodable {
        var message: String
        var transcriptID: Int?
        var hasOthersCorrections: Bool?
        var transcription: String?

        private enum CodingKeys: String, CodingKey {
            case message = "told"
            case transcriptID = "reading"
            case hasOthersCorrections = "others"
            case transcription = "sound"
        }
    }

    /// - Parameter transcription: the key with which the script asks for the result of a transcription.
    static func jsonResponse(
        _ status: Int, _ message: String, transcriptID: Int? = nil, hasOthersCorrections: Bool? = nil,
        transcription: String? = nil
    ) -> WebResponse {
        let bytes = try? JSONEncoder().encode(
            ScriptResponse(
                message: message, transcriptID: transcriptID, hasOthersCorrections: hasOthersCorrections,
                transcription: transcription))
        return WebResponse(status, headers("application/json"), .bytes(Array(bytes ?? Data())))
    }

    /// Formats a time as `2026-11-20 09:30`; empty if unknown.
    static func formatted(_ seconds: Double) -> String {
        guard seconds > 0 else { return "" }
        let (day, time) = localMinute(of: seconds)
        return "\(day) \(time)"
    }

    /// Returns headers that keep browsers from storing the response, and other sites from embedding it.
    static func headers(_ type: String) -> [(name: String, value: String)] {
        [
            ("Content-Type", type), ("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"),
            ("Content-Security-Policy", "frame-ancestors 'none'"), ("X-Frame-Options", "DENY"),
            ("Referrer-Policy", "no-referrer"), ("Cross-Origin-Resource-Policy", "same-origin"),
            ("Cross-Origin-Opener-Policy", "same-origin"),
        ]
    }

    static func htmlResponse(_ status: Int, _ html: String) -> WebResponse {
        WebResponse(status, headers("text/html; charset=utf-8"), .bytes(Array(html.utf8)))
    }

    /// - Parameter listLink: the address of the list, relative to the page; nil to derive it from the request.
    static func errorResponse(
        _ status: Int, _ title: String, _ text: String, _ request: WebRequest,
        _ headers: [(name: String, value: String)] = [], listLink: String? = nil
    ) -> WebResponse {
        let depth = request.path.split(separator: "/", omittingEmptySubsequences: false).count - 2
        let up = String(repeating: "../", count: min(max(0, depth), 8))
        var response = htmlResponse(status, errorPage(title, text, listLink: listLink ?? (up.isEmpty ? "./" : up)))
        response.headers += headers
        return response
    }
}
