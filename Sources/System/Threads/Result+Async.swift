extension Result where Failure == any Error {
    /// Returns the result of an asynchronous body, so that the caller can clean up before rethrowing an error.
    package static func of(_ body: () async throws -> Success) async -> Self {
        do { return .success(try await body()) } catch { return .failure(error) }
    }
}
