import Core

/// The error that `body` throws, nil where it throws none or another kind.
package func thrown(_ body: () throws -> Void) -> DeviceError? {
    do { try body() } catch { return error as? DeviceError }
    return nil
}

/// The error that `body` throws, nil where it throws none or another kind.
package func thrown(_ body: () async throws -> Void) async -> DeviceError? {
    do { try await body() } catch { return error as? DeviceError }
    return nil
}
