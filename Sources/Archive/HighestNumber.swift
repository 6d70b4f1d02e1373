import Core
import Glibc
import System

/// The highest number that a recording has had, in the file `last-number` beside the database. It is written before
/// anything is erased: only this file has the number of an erased recording.
private let fileName = "last-number"

extension Folder {
    /// The number; 0 if the file is missing, or has an impossible number.
    var keptNumber: Int {
        guard let bytes = try? openFile(fileName, O_RDONLY).bytes(count: 32),
            let number = Int(String(decoding: bytes.prefix { $0 != 0x0A }, as: UTF8.self)),
            (1..<(Journal.highest - 1_000_000)).contains(number)
        else { return 0 }
        return number
    }

    /// Stores a number durably if it is higher than the stored one.
    func keep(number: Int) throws(DeviceError) {
        guard number > keptNumber, number < Journal.highest - 1_000_000 else { return }
        try replace(fileName, with: Array("\(number)\n".utf8))
    }
}
