import Glibc

@testable import Appliance
@testable import Core

/// Fuzzes the parsing of requests on the control socket, and the sending of answers.
@_cdecl("LLVMFuzzerTestOneInput") public func fuzz(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
    var sockets: (Int32, Int32) = (-1, -1)
    let status = withUnsafeMutableBytes(of: &sockets) {
        socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, $0.bindMemory(to: Int32.self).baseAddress)
    }
    guard status == 0 else { return 0 }
    defer { close(sockets.1) }
    let connection = ControlConnection(sockets.0, at: .zero)
    var offset = 0
    do {
        while offset < size {
            let count = send(sockets.1, data + offset, min(size - offset, 10_000), Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
            guard count > 0 else { break }
            offset += count
            var line = try connection.read(at: .zero)
            while let request = line { line = try answer(request, on: connection) }
            _ = connection.write(at: .zero)
        }
    } catch {
        connection.refuse(Array((error.message ?? "").utf8), at: .zero)
        _ = connection.write(at: .zero)
    }
    return 0
}

nonisolated(unsafe) private var importedTexts = ImportedTexts()

private func answer(
    _ request: [UInt8], on connection: ControlConnection
) throws(ControlConnection.Refusal) -> [UInt8]? {
    precondition(request.count <= ControlLine.maximumBytes)
    let decoded = try? ControlLine.decode(ControlRequest.self, from: request)
    let encoded = decoded.map { ControlLine.encode($0) } ?? []
    // Encoding and decoding a request again must not change it.
    precondition(decoded == nil || (try? ControlLine.decode(ControlRequest.self, from: encoded)) == decoded)
    if case .archive(.importing(let part, _), _) = decoded {
        _ = try? importedTexts.append(part, from: 1)
        precondition(importedTexts.bytes <= ImportedTexts.maximumBytes)
    }
    return try connection.append(.init(client: 1, bytes: encoded + [0x0A], isAnswer: true), at: .zero)
}
