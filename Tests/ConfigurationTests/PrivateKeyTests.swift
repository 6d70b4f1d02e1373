import Testing
import TestKit

@testable import Core
@testable import Settings

@Suite("Private keys in a configuration") struct PrivateKeyTests {
    private static let secret = "AGE-SECRET-KEY-1FPZUAA303EPDUW6H5GGKJSLT86WEN5L8HP6H4HJ64WRL3EE063MSULL5QQ"
    private static let key = "age1gsys585vm88twneeqx8q3qzt670h5sesuytqjgg638l0mcnwevqqj8cygd"

    @Test(
        "are refused with the line's number, and never shown",
        arguments: [
            "[export]\nrecipients = SECRET\n", "[export]\nrecipients = KEY, SECRET\n", "[export]\nrecipient = SECRET\n",
            "[export]\nSECRET = KEY\n", "[SECRET]\n", "SECRET\n", "[export]\nSECRET\n", "[capture]\ndevice = SECRET\n",
            "[panel]\nhold-milliseconds = SECRET\n", "[export]\nformats = SECRET\n",
            "[export]\nrecipients = secret\n", "[storage]\ndirectory = SECRET\n",
            "[export]\nrecipients = -----BEGIN OPENSSH PRIVATE KEY----- FPZUAA303\n",
            "[export]\nrecipients = KEY # SECRET\n",
        ])
    func refusedWithoutKey(text: String) throws {
        let configurationText = text.replacing("SECRET", with: Self.secret)
            .replacing("secret", with: Self.secret.lowercased())
            .replacing("KEY,", with: "\(Self.key),").replacing("= KEY", with: "= \(Self.key)")
        guard case .failure(let error) = try parse(configurationText) else {
            Issue.record("the private key was accepted")
            return
        }
        let report = "\(error) \(error.problems)"
        #expect(!report.uppercased().contains("FPZUAA303"), "\(report)")
        #expect(error.problems.allSatisfy { $0.line > 0 })
    }

    @Test(
        "an invalid recipients line on a card prevents copies, and the report does not contain the key",
        arguments: [
            "recipients = SECRET", "export.recipients = SECRET", "recipients = awa", "recipients =",
            "recipients = age1",
        ])
    func card(line: String) {
        let text = "name = FIELD-7\n\(line.replacing("SECRET", with: Self.secret))\nstyle = mark\n"
        let settings = CardSettings(Array(text.utf8)) { _ in false }
        #expect(settings.configuration.export.recipients == ["nobody"] && settings.name == "FIELD-7")
        #expect(
            settings.problems.count == 1 && settings.problems[0].hasPrefix("line 2: recipients")
                || line.hasPrefix("export"))
        #expect(settings.problems[0].contains("Nothing is copied until this line is corrected"))
        #expect(!settings.problems[0].contains("FPZUAA303"))
        #expect(settings.text.contains("recipients = nobody"))
        #expect(throws: DeviceError.self) { try settings.configuration.recipients() }
    }

    @Test("public keys on a card are used; a file that is too large prevents copies, because it may name recipients")
    func cardKeys() throws {
        let settings = CardSettings(Array("recipients = \(Self.key)\n".utf8)) { _ in false }
        #expect(try settings.configuration.recipients()?.map(\.text) == [Self.key] && settings.problems.isEmpty)
        let oversized = CardSettings([UInt8](repeating: 35, count: CardSettings.maximumBytes + 1)) { _ in false }
        #expect(oversized.configuration.export.recipients == ["nobody"])
    }

    @Test("a stick's configuration never sets recipients")
    func stick() {
        let key = ConfigurationKey.all.first { $0.path == "export.recipients" }
        #expect(key?.stickRefusal(Self.key)?.contains("in settings/recipients.txt") == true)
        #expect(key?.stickRefusal("") != nil)
    }

    @Test("without recipients, copies are not encrypted; a missing key file and nobody are errors")
    func recipients() throws {
        let folder = TemporaryFolder()
        var configuration = Configuration()
        #expect(try configuration.recipients() == nil)
        configuration.export.recipients = [Self.key, folder.file("none")]
        #expect(thrown { _ = try configuration.recipients() }?.message.contains("/none: no such file") == true)
        configuration.export.recipients = ["nobody"]
        #expect(thrown { _ = try configuration.recipients() }?.code == .denied)
    }
}
