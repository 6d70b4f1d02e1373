import Foundation

@testable import Core
@testable import Recognition

/// A decoder of Debian's model for each profile, shared by tests because loading is slow.
final class SharedDecoder: Sendable {
    private static let all = DecoderProfile.all.map(SharedDecoder.init)

    private let profile: DecoderProfile
    // A pthread lock, because the thread sanitizer does not see how a contended `Mutex` is acquired.
    private let lock = NSLock()
    // Safety: used only while the lock is held.
    private nonisolated(unsafe) var decoder: PocketSphinxRecognizer?

    private init(profile: DecoderProfile) { self.profile = profile }

    /// Decodes an utterance as the first one in a recording.
    static func recognize(
        _ samples: [Int16], by profile: DecoderProfile = .live, alternatives: Int = 1
    ) throws -> Hypothesis {
        guard let shared = all.first(where: { $0.profile.name == profile.name }) else {
            preconditionFailure(profile.name)
        }
        return try shared.lock.withLock {
            let loaded =
                try shared.decoder
                ?? PocketSphinxRecognizer(model: PocketSphinxModel(folder: PocketSphinxModel.debian), profile: profile)
            shared.decoder = loaded
            return try samples.withUnsafeBufferPointer {
                try loaded.recognize($0, from: nil, alternatives: alternatives) { _ throws(DeviceError) in }
            }
        }
    }
}
