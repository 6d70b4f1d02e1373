import System

/// A style or script of pages: a file embedded by the build.
struct PagePart: Sendable {
    /// Shared by the player page and the index: colours for light, dark and print.
    static let sharedStyle = PagePart(PackageResources.shared_css)
    /// The transcript and its player.
    static let playerStyle = PagePart(PackageResources.player_css)

    /// Plays, searches, and corrects. The transcript is readable without it.
    static let playerScript = PagePart(
        PackageResources.words_js + PackageResources.player_js + PackageResources.editor_js
            + PackageResources.keeping_js + PackageResources.places_js + PackageResources.writing_js
            + PackageResources.arriving_js)

    /// Sends the content of a corrections page to the recording's page.
    static let bridgeScript = PagePart(PackageResources.bridge_js)
    /// The list of recordings.
    static let indexStyle = PagePart(PackageResources.index_css)
    /// Searches all texts.
    static let indexScript = PagePart(PackageResources.words_js + PackageResources.index_js)
    /// The content of the element.
    let text: String
    /// The SHA-256 of the text in base64, for the page's Content-Security-Policy.
    let digest: String

    init(_ file: [UInt8]) {
        text = "\n" + String(decoding: file, as: UTF8.self)
        digest = Digest.base64(of: text)
    }
}
