@testable import Settings

/// Fuzzes the parser of configuration files.
@_cdecl("LLVMFuzzerTestOneInput") public func fuzz(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: data, count: size))
    do { _ = try ConfigurationParser.parse(bytes, file: "fieldscribe.conf") } catch {
        let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false).count
        precondition(!error.problems.isEmpty && error.problems.allSatisfy { (1...lines).contains($0.line) })
    }
    return 0
}
