import Core

@testable import SQLiteArchive

/// A recording's journal: as it is, and each line with a checksum that holds, as if somebody meant it.
@_cdecl("LLVMFuzzerTestOneInput") public func fuzz(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
    let bytes = UnsafeBufferPointer(start: data, count: size)
    check(Journal.entries(in: bytes).entries)
    var signed: [UInt8] = []
    for line in bytes.split(separator: 0x0A) {
        signed += Array(CRC32.text(of: line).utf8) + [0x20] + line + [0x0A]
    }
    let (entries, damaged) = Journal.entries(in: signed)
    precondition(damaged == 0)
    check(entries)
    return 0
}

private func check(_ entries: [JournalEntry]) {
    for pass in JournalRecord(entries).passes {
        var end = SamplePosition.zero
        for segment in pass.ordered {
            precondition(segment.range.start >= end && segment.range.end >= segment.range.start)
            end = segment.range.end
        }
    }
}
