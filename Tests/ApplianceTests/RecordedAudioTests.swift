import Testing

@testable import Core
@testable import Maintenance
@testable import Recognition

@Suite("A closed recording as an audio source") struct RecordedAudioTests {
    /// A source that returns one chunk and then throws an error.
    private actor FailingSource: AudioSource {
        let error: any Error
        private var chunks: [AudioChunk] = [.samples([1, 2, 3])]

        init(_ error: any Error) { self.error = error }

        func next() async throws -> AudioChunk? {
            guard chunks.isEmpty else { return chunks.removeFirst() }
            throw error
        }
    }

    @Test("an unreadable sector can be distinguished from errors in the engine and the archive")
    func unreadableSector() async throws {
        let readError = DeviceError(.failed, "pread", status: 5, "audio.wav: input/output error; replace the card")
        let audio = RecordedAudio(FailingSource(readError))
        _ = try await audio.next()
        await #expect { _ = try await audio.next() } throws: { error in
            (error as? RecordedAudio.Unreadable)?.error == readError
        }
    }

    @Test("a cancellation is passed on unchanged")
    func cancellation() async throws {
        let audio = RecordedAudio(FailingSource(CancellationError()))
        _ = try await audio.next()
        await #expect(throws: CancellationError.self) { _ = try await audio.next() }
    }
}
