import CPages
import System

/// A built-in style sheet or script for pages.
struct PagePart: Sendable {
    /// Shared by the player page and the index, with colours for light mode, dark mode and print.
    static let sharedStyle = PagePart(of: page_shared_css())
    static let playerStyle = PagePart(of: page_player_css())

    /// Plays, searches and corrects. The transcript is readable without the script.
    static let playerScript = PagePart(
        of: page_words_js(), page_player_js(), page_editor_js(), page_storage_js(), page_annotations_js(),
        page_downloads_js(), page_startup_js())

    /// Sends the content of a corrections page to the recording's page.
    static let bridgeScript = PagePart(of: page_bridge_js())
    static let indexStyle = PagePart(of: page_index_css())
    static let indexScript = PagePart(of: page_words_js(), page_index_js())
    /// The content of the `style` or `script` element.
    let text: String
    /// The SHA-256 of the text in base64, for the page's Content-Security-Policy.
    let digest: String

    init(_ content: String) {
        text = "\n" + content
        digest = Digest.base64(of: text)
    }

    private init(of files: UnsafePointer<CChar>...) { self.init(files.map { String(cString: $0) }.joined()) }
}
