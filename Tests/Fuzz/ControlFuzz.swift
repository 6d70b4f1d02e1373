import Glibc

@testable import Appliance
@testable import Core

/// Requests on the control socket, and the responses.
@_cdecl("LLVMFuzzerTestOneInput") public func fuzz(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
    var ends: (Int32, Int32) = (-1, -1)
    let paired = withUnsafeMutableBytes(of: &ends) {
        socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, $0.bindMemory(to: Int32.self).baseAddress)
    }
    guard paired == 0 else { return 0 }
    defer { close(ends.1) }
    let connection = ControlConnection(ends.0, at: .zero)
    var place = 0
    do {
        while place < size {
            let count = send(ends.1, data + place, min(size - place, 10_000), Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
            guard count > 0 else { break }
            place += count
            var line = try connection.read(at: .zero)
            while let request = line { line = try answer(request, on: connection) }
            _ = connection.write(at: .zero)
        }
    } catch {
        connection.refuse(Array((error.words ?? "").utf8), at: .zero)
        _ = connection.write(at: .zero)
    }
    return 0
}

nonisolated(unsafe) private var imported = ImportedTexts()

private func answer(
    _ request: [UInt8], on connection: ControlConnection
) throws(ControlConnection.Refusal) -> [UInt8]? {
    precondition(request.count <= ControlLine.longest)
    let decoded = try? ControlLine.decode(ControlRequest.self, from: request)
    let bytes = decoded.map { ControlLine.encode($0) } ?? []
    // Values within the ranges of `RequestField` stay there.
    precondition(decoded == nil || (try? ControlLine.decode(ControlRequest.self, from: bytes)) == decoded)
    if case .archive(.importing(let part, _), _) = decoded {
        _ = try? imported.append(part, from: 1)
        precondition(imported.bytes <= ImportedTexts.most)
    }
    return try connection.append(.init(client: 1, bytes: bytes + [0x0A], answers: true), at: .zero)
}
