import Core
import Recording

extension Verification {
    /// What the checksums of a recording tell.
    enum Sums {
        /// There is no audio, or none that can be read: others tell of that.
        case unread
        case read(RecordingSums)
    }

    /// Reads all of a recording's sound.
    ///
    /// - Throws: `CancellationError` where nobody wants to know any longer.
    func readSums(of id: Int, isGrowing: Bool) async throws -> Sums {
        let path = RecordingFolder(storage: storage, recording: id).audio
        return try await onStoppableThread(named: "verify") { goesOn in
            do throws(DeviceError) {
                guard let sums = try RecordingSums(path: path, isGrowing: isGrowing, goesOn: goesOn) else {
                    throw DeviceError(.failed, "verify", "ended")
                }
                return .read(sums)
            } catch {
                if !goesOn() { throw CancellationError() }
                return .unread
            }
        }
    }

    /// Where the sound is not what was recorded: a finding a place.
    func findings(of sums: RecordingSums, _ id: Int) -> [StorageFinding] {
        sums.damaged.map { range in
            StorageFinding(
                .damaged, recording: id, file: RecordingFolder(storage: storage, recording: id).audio,
                "differs from what was recorded, from \(range.start.seconds) s to \(range.end.seconds) s; "
                    + "restore a copy of it, and check the disk")
        }
    }

    /// One finding for all recordings of which not all sound has a checksum.
    func unsummed(_ ids: [Int]) -> [StorageFinding] {
        guard let first = ids.first else { return [] }
        var runs: [(Int, Int)] = []
        for id in ids {
            if let last = runs.last, last.1 == id - 1 { runs[runs.count - 1].1 = id } else { runs.append((id, id)) }
        }
        let numbers = runs.map { $0.0 == $0.1 ? "\($0.0)" : "\($0.0)-\($0.1)" }.joined(separator: ", ")
        return [
            StorageFinding(
                .note, recording: ids.count == 1 ? first : nil, file: "\(storage)/recordings",
                "\(ids.count == 1 ? "recording" : "recordings") \(numbers): some of the sound has no checksum to compare it "
                    + "with, as in recordings of earlier versions; run fieldscribe recover, which makes one")
        ]
    }
}
