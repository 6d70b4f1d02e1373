import FoundationEssentials
import Transcripts

// Responses that several requests use.
extension OfficeSite {
    /// The response to a page's script, as JSON.
    private struct Answer: Encodable {
        var told: String
        var reading: Int?
        var others: Bool?
        var sound: String?
    }

    static func answer(
        _ status: Int, _ text: String, reading: Int? = nil, others: Bool? = nil, sound: String? = nil
    ) -> WebResponse {
        let bytes = try? JSONEncoder().encode(Answer(told: text, reading: reading, others: others, sound: sound))
        return WebResponse(status, headers("application/json"), .bytes(Array(bytes ?? Data())))
    }

    static func time(_ seconds: Double) -> String {
        guard seconds > 0 else { return "" }
        let (day, time) = localMinute(of: seconds)
        return "\(day) \(time)"
    }

    /// The headers of every response: browsers do not store it, and other sites can neither embed nor request it.
    static func headers(_ type: String) -> [(name: String, value: String)] {
        [
            ("Content-Type", type), ("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"),
            ("Content-Security-Policy", "frame-ancestors 'none'"), ("X-Frame-Options", "DENY"),
            ("Referrer-Policy", "no-referrer"), ("Cross-Origin-Resource-Policy", "same-origin"),
            ("Cross-Origin-Opener-Policy", "same-origin"),
        ]
    }

    static func page(_ status: Int, _ text: String) -> WebResponse {
        WebResponse(status, headers("text/html; charset=utf-8"), .bytes(Array(text.utf8)))
    }

    static func problem(
        _ status: Int, _ title: String, _ text: String, _ request: WebRequest,
        _ headers: [(name: String, value: String)] = [], back: String? = nil
    ) -> WebResponse {
        let depth = request.path.split(separator: "/", omittingEmptySubsequences: false).count - 2
        let up = String(repeating: "../", count: min(max(0, depth), 8))
        var answer = page(status, problemPage(title, text, back: back ?? (up.isEmpty ? "./" : up)))
        answer.headers += headers
        return answer
    }
}
