import Core

/// Returns the `DeviceError` that `body` throws; nil if it throws nothing or an error of another type.
package func thrown(_ body: () throws -> Void) -> DeviceError? {
    do { try body() } catch { return error as? DeviceError }
    return nil
}

/// Returns the `DeviceError` that `body` throws; nil if it throws nothing or an error of another type.
package func thrown(_ body: () async throws -> Void) async -> DeviceError? {
    do { try await body() } catch { return error as? DeviceError }
    return nil
}
