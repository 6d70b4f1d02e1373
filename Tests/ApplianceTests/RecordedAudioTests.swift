import Testing

@testable import Core
@testable import Maintenance
@testable import Recognition

@Suite("A closed recording as a source") struct RecordedAudioTests {
    /// Returns a chunk, then an error.
    private actor Failing: AudioSource {
        let error: any Error
        private var chunks: [AudioChunk] = [.samples([1, 2, 3])]

        init(_ error: any Error) { self.error = error }

        func next() async throws -> AudioChunk? {
            guard chunks.isEmpty else { return chunks.removeFirst() }
            throw error
        }
    }

    @Test("an unreadable sector is distinguished from errors of engine and archive")
    func sector() async throws {
        let broken = DeviceError(.failed, "pread", status: 5, "audio.wav: input/output error; replace the card")
        let audio = RecordedAudio(Failing(broken))
        _ = try await audio.next()
        await #expect { _ = try await audio.next() } throws: { error in
            (error as? RecordedAudio.Unreadable)?.error == broken
        }
    }

    @Test("a cancelled transcription ends with a cancellation")
    func cancelled() async throws {
        let audio = RecordedAudio(Failing(CancellationError()))
        _ = try await audio.next()
        await #expect(throws: CancellationError.self) { _ = try await audio.next() }
    }
}
