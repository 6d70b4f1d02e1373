import Core
import FoundationEssentials
import Recognition
import System

/// Audio with its reference text, which is empty for audio without speech or in another language.
struct FoldSound: Sendable {
    /// A file, or the name of a generated sound.
    let item: Corpus.Item
    /// The speaker, the other language, or the kind of non-speech sound. All sounds with the same value are in the same
    /// fold.
    let speaker: String
    let samples: [Int16]
    let digest: String

    var seconds: Double { Double(samples.count) / Double(SamplePosition.rate) }

    init(_ item: Corpus.Item, speaker: String, _ samples: [Int16]) {
        (self.item, self.speaker, self.samples) = (item, speaker, samples)
        var digest = Digest()
        samples.withUnsafeBytes { digest.add($0) }
        self.digest = digest.finish()
    }

    /// The audio attenuated by 45 dB, as if the microphone were far away.
    var quiet: FoldSound {
        FoldSound(item, speaker: speaker, samples.map { Int16((Double($0) * 0.0056234).rounded()) })
    }

    /// Joins all files of each speaker, with pauses removed.
    static func unpaused(_ sounds: [FoldSound]) -> [FoldSound] {
        Dictionary(grouping: sounds, by: \.speaker).sorted { $0.key < $1.key }.map { speaker, sounds in
            let text = sounds.map(\.item.text).joined(separator: " ")
            return FoldSound(
                Corpus.Item(path: speaker, text: text), speaker: speaker,
                sounds.flatMap { SegmentedAudio($0.samples).unpaused })
        }
    }
}

/// Stores recognized words in files, so that an interrupted run can continue.
struct FoldCache: Sendable {
    let folder: String
    /// The digest of the program and the model, which is part of the cache key.
    let program: String

    /// - Throws: `DeviceError` if the folder cannot be created.
    init(folder: String, program: String) throws(DeviceError) {
        (self.folder, self.program) = (folder, program)
        try makeFolder(folder)
    }

    func reading(of sound: FoldSound, by tuning: Tuning) -> FoldReading? {
        try? decoded(FoldReading.self, from: path(sound, tuning))
    }

    func store(_ reading: FoldReading, of sound: FoldSound, by tuning: Tuning) throws {
        try durableReplace(path: path(sound, tuning), with: [UInt8](JSONEncoder().encode(reading)))
    }

    /// The file's name depends on all constants, because `String(reflecting:)` lists every property of the tuning.
    private func path(_ sound: FoldSound, _ tuning: Tuning) -> String {
        "\(folder)/\(Digest.of("\(program) \(String(reflecting: tuning)) \(sound.digest)")).json"
    }

    /// Returns the digest of this program and a model's files.
    static func digest(model: String) throws(DeviceError) -> String {
        var digest = Digest()
        for file in ["/proc/self/exe"] + MoonshineModel(path: model).files {
            try MappedFile(file).withBytes { digest.add($0) }
        }
        return digest.finish()
    }
}
