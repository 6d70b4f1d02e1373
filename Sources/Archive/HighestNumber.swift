import Core
import Glibc
import System

/// The file `last-number` beside the database, which stores the highest number that a recording has had. It is written
/// before recordings are erased, because afterwards nothing else has their numbers.
struct HighestNumber {
    private static let name = "last-number"
    private let folder: Folder

    /// - Parameter folder: The database's folder.
    init(in folder: Folder) { self.folder = folder }

    /// The stored number; 0 if the file is missing or has an impossible number.
    var storedNumber: Int {
        guard let bytes = try? folder.openFile(Self.name, O_RDONLY).bytes(count: 32),
            let number = Int(String(decoding: bytes.prefix { $0 != 0x0A }, as: UTF8.self)),
            (1..<(Journal.maximumNumber - 1_000_000)).contains(number)
        else { return 0 }
        return number
    }

    /// Stores a number durably if it is higher than the stored one.
    func store(_ number: Int) throws(DeviceError) {
        guard number > storedNumber, number < Journal.maximumNumber - 1_000_000 else { return }
        try folder.replace(Self.name, with: Array("\(number)\n".utf8))
    }
}
