import System

/// A style or a script of a page: a file that the build embeds.
struct PagePart: Sendable {
    /// What the player page and the index share: paper and ink by day, the reverse by night, and as print.
    static let sharedStyle = PagePart(PackageResources.shared_css)

    /// The transcript and its player.
    static let playerStyle = PagePart(PackageResources.player_css)

    /// What the player page does: plays, searches, and lets a person correct. The transcript is read without it.
    static let playerScript = PagePart(
        PackageResources.player_js + PackageResources.editor_js + PackageResources.keeping_js
            + PackageResources.places_js + PackageResources.arriving_js)

    /// What a page of corrections does: it tells the recording's page what it holds.
    static let bridgeScript = PagePart(PackageResources.bridge_js)

    /// The list of recordings.
    static let indexStyle = PagePart(PackageResources.index_css)

    /// What the index does: search in all texts.
    static let indexScript = PagePart(PackageResources.index_js)

    /// What stands between the tags.
    let text: String

    /// SHA-256 of the text, in base64, as the page's policy names it.
    let digest: String

    init(_ file: [UInt8]) {
        text = "\n" + String(decoding: file, as: UTF8.self)
        digest = Digest.base64(of: text)
    }
}
