import Core
import Platform
import TestKit

/// A pair of keys that `age-keygen` made.
struct KeyPair {
    private let folder = TemporaryFolder()
    let recipient: Recipient

    /// The private key's file.
    var key: String { folder.file("key.txt") }

    init() throws {
        let path = folder.file("key.txt")
        shell("age-keygen -o '\(path)'")
        let text = shell("age-keygen -y '\(path)'").output.split(separator: "\n").last.map(String.init) ?? ""
        guard let recipient = Recipient(text) else {
            throw DeviceError(.missing, "age-keygen", "age is not installed: \(text)")
        }
        self.recipient = recipient
    }

    /// Opens a sealed file as its README.txt tells, into a folder; what the programs say, which is nothing where all is well.
    func open(_ path: String, into folder: String) -> String {
        let (status, output) = shell(
            "mkdir -p '\(folder)' && set -o pipefail && age -d -i '\(key)' '\(path)' | tar x -C '\(folder)'")
        return status == 0 ? output : "status \(status): \(output)"
    }

    func opens(_ path: String) -> Bool { shell("age -d -i '\(key)' '\(path)' >/dev/null").status == 0 }
}

extension Desk {
    /// Where sealed copies stand.
    var sealedFolder: String { "\(stick)/Fieldscribe/sealed" }

    /// The sealed files under a final name, sorted.
    var sealedFiles: [String] { names(sealedFolder).filter { $0.hasSuffix(".fieldscribe.age") } }

    static func sealedName(_ id: Int) -> String { "00000\(id).fieldscribe.age" }

    func result() -> String { shell("cat '\(stick)/Fieldscribe/RESULT.txt'").output }
}
