import Core

extension Archive {
    package func commit(
        _ segment: Segment, adaptation: AdaptationState? = nil, pass: Int, recording: Int
    ) async throws {
        try await commit([segment], adaptation: adaptation, pass: pass, recording: recording)
    }
}
