import Core

/// The error that `body` throws; nil for none, or one of another type.
package func thrown(_ body: () throws -> Void) -> DeviceError? {
    do { try body() } catch { return error as? DeviceError }
    return nil
}

/// The error that `body` throws; nil for none, or one of another type.
package func thrown(_ body: () async throws -> Void) async -> DeviceError? {
    do { try await body() } catch { return error as? DeviceError }
    return nil
}
