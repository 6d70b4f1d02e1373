/// An acoustic model's binary definition, `mdef`: its phones and the Gaussians of each of their states.
///
/// All numbers are little-endian. The file begins with a magic number, the version, and the length and text of a
/// description. Next come ten 32-bit counts; the NUL-terminated phone names, padded to four bytes; a tree from
/// neighbors to triphones, 8 bytes per node; the phones and then the triphones, 12 bytes each: state sequence,
/// transition matrix and other data; the number of states in all sequences; and the sequences, 16 bits per state.
struct ModelDefinition {
    /// The phones, spelled as in the dictionary, in the model's order.
    let sounds: [String]
    private let bytes: [UInt8]
    private let counts: [Int]
    private let startOfCounts: Int
    private let endOfNames: Int

    private enum Count: Int {
        case sounds, phones, states, statesOfSounds, allStates, matrices, sequences, neighbors, nodes, silence
    }

    /// Parses a definition; nil if it is invalid.
    ///
    /// - Parameter bytes: the content of the file.
    init?(_ bytes: [UInt8]) {
        guard bytes.starts(with: "BMDF".utf8), let description = Self.number(bytes, at: 8),
            (0...1 << 20).contains(description)
        else { return nil }
        startOfCounts = 12 + description
        var counts: [Int] = []
        for index in 0...Count.silence.rawValue {
            guard let count = Self.number(bytes, at: startOfCounts + 4 * index) else { return nil }
            counts.append(count)
        }
        guard (1...1_024).contains(counts[Count.sounds.rawValue]) else { return nil }
        var sounds: [String] = []
        let startOfNames = startOfCounts + 4 * counts.count
        var offset = startOfNames
        for _ in 0..<counts[Count.sounds.rawValue] {
            guard offset < bytes.count, let end = bytes[offset...].firstIndex(of: 0) else { return nil }
            sounds.append(String(decoding: bytes[offset..<end], as: UTF8.self))
            offset = end + 1
        }
        endOfNames = startOfNames + (offset - startOfNames + 3) / 4 * 4
        (self.bytes, self.counts, self.sounds) = (bytes, counts, sounds)
    }

    /// The definition without triphones, so that each phone is independent of its neighbors; nil if the file does not
    /// match its counts.
    ///
    /// PocketSphinx encodes the requested states as one-byte differences, and requests intermediate states for larger
    /// differences. With triphones, it therefore computes the Gaussians of 14 phones in a frame that needs only 5. The
    /// states of context-independent phones are close together.
    var withoutTriphones: [UInt8]? {
        let (sounds, states) = (count(.sounds), count(.states))
        guard states > 0, count(.phones) >= sounds, count(.nodes) >= 0, count(.sequences) >= 0,
            count(.statesOfSounds) < 256, let startOfPhones = end(endOfNames, count(.nodes), 8),
            let endOfPhones = end(startOfPhones, count(.phones), 12),
            let length = Self.number(bytes, at: endOfPhones), end(endOfPhones + 4, length, 2) == bytes.count
        else { return nil }
        var phones: [UInt8] = []
        var sequences: [UInt8] = []
        for sound in 0..<sounds {
            let phone = startOfPhones + 12 * sound
            guard let sequence = Self.number(bytes, at: phone), (0..<length / states).contains(sequence) else {
                return nil
            }
            let start = endOfPhones + 4 + 2 * states * sequence
            phones += Self.bytes(of: sound)
            phones += bytes[phone + 4..<phone + 12]
            sequences += bytes[start..<start + 2 * states]
        }
        var counts = counts
        counts[Count.phones.rawValue] = sounds
        counts[Count.sequences.rawValue] = sounds
        counts[Count.nodes.rawValue] = Self.wordPositions
        var result = Array(bytes[..<startOfCounts])
        for count in counts { result += Self.bytes(of: count) }
        result += bytes[startOfCounts + 4 * counts.count..<endOfNames]
        // An empty tree.
        for _ in 0..<Self.wordPositions { result += [0xFF, 0xFF, 1, 0, 0, 0, 0, 0] as [UInt8] }
        result += phones
        result += Self.bytes(of: sounds * states)
        result += sequences
        return result
    }

    /// The number of word positions (inside, begin, end, single): the first level of the tree, which the library
    /// requires.
    private static let wordPositions = 4

    private func count(_ count: Count) -> Int { counts[count.rawValue] }

    /// Returns the end of `count` entries of `size` bytes each; nil if the file is shorter.
    private func end(_ start: Int, _ count: Int, _ size: Int) -> Int? {
        count >= 0 && count <= (bytes.count - start) / size && start <= bytes.count ? start + count * size : nil
    }

    private static func number(_ bytes: [UInt8], at offset: Int) -> Int? {
        guard offset >= 0, offset + 4 <= bytes.count else { return nil }
        let bits = bytes[offset..<offset + 4].reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return Int(Int32(bitPattern: bits))
    }

    private static func bytes(of number: Int) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
}
