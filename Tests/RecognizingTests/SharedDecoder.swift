import Synchronization

@testable import Core
@testable import Recognition

/// A decoder of Debian's model for each profile, which all tests that only read with it share: loading one takes longer than most
/// of their sounds.
final class SharedDecoder: Sendable {
    private static let all = DecoderProfile.all.map(SharedDecoder.init)

    private let profile: DecoderProfile
    private let decoder = Mutex<PocketSphinxRecognizer?>(nil)

    private init(profile: DecoderProfile) { self.profile = profile }

    /// Reads an utterance as the first one of a recording.
    static func read(
        _ samples: [Int16], by profile: DecoderProfile = .live, alternatives: Int = 1
    ) throws -> Hypothesis {
        guard let shared = all.first(where: { $0.profile.name == profile.name }) else {
            preconditionFailure(profile.name)
        }
        return try shared.decoder.withLock { decoder in
            let loaded =
                try decoder
                ?? PocketSphinxRecognizer(model: PocketSphinxModel(folder: PocketSphinxModel.debian), profile: profile)
            decoder = loaded
            return try samples.withUnsafeBufferPointer {
                try loaded.recognize($0, from: nil, alternatives: alternatives) { _ throws(DeviceError) in }
            }
        }
    }
}
