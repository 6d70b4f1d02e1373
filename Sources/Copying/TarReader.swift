import Core

/// What a tar holds, as its bytes come: of what `Tar` writes, and no more. No name in it becomes one of ours. Used on one thread.
final class TarReader {
    /// Takes a file's bytes, in their order.
    typealias Take = (UnsafeRawBufferPointer) throws(DeviceError) -> Void

    /// Called for each file, with its name and its length in bytes; nil for one that is passed over.
    private let open: (_ name: String, _ bytes: Int64) throws(DeviceError) -> Take?
    /// What errors name.
    private let name: String
    private var header: [UInt8] = []
    private var take: Take?
    /// What is left of the file, and of the zeros behind it.
    private var rest: Int64 = 0
    private var padding: Int64 = 0
    /// A record of the next file's length is being gathered; nil where none is.
    private var record: [UInt8]?
    private var nextLength: Int64?
    /// Whether the blocks of zeros at its end have come.
    private(set) var isAtEnd = false

    /// - Parameter name: what errors name.
    init(named name: String, open: @escaping (String, Int64) throws(DeviceError) -> Take?) {
        self.name = name
        self.open = open
    }

    /// Takes the next bytes.
    ///
    /// - Throws: `DeviceError` with `damaged` for what is no tar of ours; what `open` and what it returns throw.
    func take(_ bytes: UnsafeRawBufferPointer) throws(DeviceError) {
        var bytes = bytes
        while !bytes.isEmpty, !isAtEnd {
            if rest > 0 {
                let count = Int(min(rest, Int64(bytes.count)))
                let part = UnsafeRawBufferPointer(rebasing: bytes[..<count])
                if record != nil { record?.append(contentsOf: part) } else { try take?(part) }
                rest -= Int64(count)
                bytes = UnsafeRawBufferPointer(rebasing: bytes[count...])
                if rest == 0 { try endFile() }
            } else if padding > 0 {
                let count = Int(min(padding, Int64(bytes.count)))
                padding -= Int64(count)
                bytes = UnsafeRawBufferPointer(rebasing: bytes[count...])
            } else {
                let count = min(Tar.block - header.count, bytes.count)
                header.append(contentsOf: bytes[..<count])
                bytes = UnsafeRawBufferPointer(rebasing: bytes[count...])
                if header.count == Tar.block { try begin() }
            }
        }
    }

    private func begin() throws(DeviceError) {
        defer { header.removeAll(keepingCapacity: true) }
        if header.allSatisfy({ $0 == 0 }) {
            isAtEnd = true
            return
        }
        var sum: Int64 = 0
        for (index, byte) in header.enumerated() { sum += (148..<156).contains(index) ? 32 : Int64(byte) }
        guard text(257, 5) == "ustar", number(148, 8) == sum, let told = number(124, 12) else { throw damaged }
        let length = nextLength ?? told
        rest = length
        padding = Int64(Tar.padding(after: length).count)
        switch header[156] {
        case UInt8(ascii: "x"):
            guard length > 0, length <= 1_024 else { throw damaged }
            record = []
        case UInt8(ascii: "0"):
            nextLength = nil
            take = try open(text(0, 100), length)
            if length == 0 { take = nil }
        case UInt8(ascii: "5"):
            guard length == 0 else { throw damaged }
        default: throw damaged
        }
    }

    private func endFile() throws(DeviceError) {
        take = nil
        guard let bytes = record else { return }
        record = nil
        let line = String(decoding: bytes, as: UTF8.self).split(separator: "\n").first ?? ""
        let words = line.split(separator: " ", maxSplits: 1).last ?? ""
        guard words.hasPrefix("size="), let length = Int64(words.dropFirst(5)), (0..<1 << 50).contains(length) else {
            throw damaged
        }
        nextLength = length
    }

    private func text(_ place: Int, _ count: Int) -> String {
        String(decoding: header[place..<place + count].prefix { $0 != 0 }, as: UTF8.self)
    }

    private func number(_ place: Int, _ count: Int) -> Int64? {
        Int64(text(place, count).filter { $0 != " " }, radix: 8).flatMap { $0 >= 0 ? $0 : nil }
    }

    private var damaged: DeviceError {
        DeviceError(.damaged, "tar", on: name, "holds something else than a recording that was sealed here")
    }
}
