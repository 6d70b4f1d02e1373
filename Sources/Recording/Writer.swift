import Core
import Platform
import Synchronization

/// The writer thread's work: ring to disk, and word of it to the sink. Born, used and freed on that thread.
final class Writer {
    private let link: CaptureLink
    private let sink: any RecordingSink
    private let wantsLevel: () -> Bool
    private let syncNanoseconds: Int64
    private let file: WaveFile
    private var gaps: [Gap] = []
    private var meter = LevelMeter()
    private var syncDue: Int64
    private var syncedUpTo = SamplePosition.zero

    /// Makes the file.
    init(
        path: String, link: CaptureLink, sink: any RecordingSink, syncSeconds: Double,
        wantsLevel: @escaping () -> Bool
    ) throws(DeviceError) {
        self.link = link
        self.sink = sink
        self.wantsLevel = wantsLevel
        syncNanoseconds = Int64(syncSeconds * 1e9)
        file = try WaveFile(creating: path)
        syncDue = MonotonicClock.nanoseconds + syncNanoseconds
    }

    /// Writes until capture has ended, and closes the file.
    func run() -> RecordingResult {
        var (reason, failure): (StopReason, DeviceError?)
        do {
            (reason, failure) = try writeAll()
            try file.close(reason: reason)
        } catch {
            (reason, failure) = (.disk, error as? DeviceError)
            link.stop(reason: nil)
            // It fails again where nothing more can be written; the first error is the one to tell.
            try? file.close(reason: .disk)
        }
        sink.closed(at: file.end, reason: reason)
        return RecordingResult(length: file.end, reason: reason, gaps: gaps, error: failure)
    }

    private func writeAll() throws -> (StopReason, DeviceError?) {
        while true {
            // Asked before the ring is emptied: what was captured before the end is then seen.
            let outcome = link.captureOutcome
            while try link.ring.take(write) {
                link.freed()
                sink.written(upTo: file.end)
                try syncIfDue()
            }
            guard let outcome else {
                try syncIfDue()
                link.data.wait(timeout: .milliseconds(250))
                continue
            }
            let before = file.end
            try link.ring.takeRest(write)
            if file.end > before { sink.written(upTo: file.end) }
            return switch outcome {
            case .stopped: (link.stopReason ?? .command, nil)
            case .ended: (.ended, nil)
            case .refused(let error), .failed(let error): (.error, error)
            }
        }
    }

    private func write(_ piece: SampleRing.Piece) throws {
        switch piece {
        case .samples(let samples):
            try file.append(samples)
            if wantsLevel() { meter.measure(samples, report: sink.level) }
        case .lost(let count, let cause):
            let start = file.end
            try file.appendSilence(count)
            let gap = Gap(SampleRange(start, file.end), cause: cause)
            gaps.append(gap)
            sink.lost(gap)
        }
    }

    private func syncIfDue() throws {
        guard file.end > syncedUpTo else { return }
        let now = MonotonicClock.nanoseconds
        guard now >= syncDue else { return }
        try file.sync()
        syncDue = now + syncNanoseconds
        syncedUpTo = file.end
        sink.synced(upTo: syncedUpTo)
    }
}
