import Core
import Glibc
import System

/// The writer thread's work: ring to disk, and word of it to the sink. Born, used and freed on that thread.
///
/// The ring keeps what was taken until it is on the disk. When the disk refuses anything, what follows the last good
/// sync is taken again and written to a new file beside: a failed sync is final, and the file is not to be trusted.
final class Writer {
    /// New files that may fail in a row.
    private static let attempts = 3

    private let path: String
    private let link: CaptureLink
    private let sink: any RecordingSink
    private let settings: RecordingSession.Settings
    private let microphone: String
    private let isMonitored: Bool

    private var file: WaveFile
    /// Where in the recording the file's first sample belongs.
    private var start = SamplePosition.zero
    /// The file before, until the new one has had a good sync.
    private var previous: (file: WaveFile, start: SamplePosition)?
    private var parts = 0
    private var failures = 0

    private var gaps: [Gap] = []
    private var meter = LevelMeter()
    private var health: ChannelsHealth
    private let channels: Int
    /// A tenth of a second of both channels mixed.
    private let mixed: UnsafeMutableBufferPointer<Int16>
    /// How far the sink was told; what is written anew is not told again.
    private var told = SamplePosition.zero
    private var syncedUpTo = SamplePosition.zero
    private var pace: SyncPace
    /// nil where they could not be begun: then `verify` says so.
    private let sums: RunningSums?
    /// Whether somebody has removed the file while it is written.
    private var isRemoved = false
    /// Said that less than the reserve is left on the disk.
    private var low: DeviceError?
    private let retry = Wakeup()

    private var end: SamplePosition { start + file.end.samples }

    /// Makes the file.
    init(
        path: String, link: CaptureLink, sink: any RecordingSink, settings: RecordingSession.Settings,
        microphone: any MicrophoneProvider
    ) throws(DeviceError) {
        self.path = path
        self.link = link
        self.sink = sink
        self.settings = settings
        self.microphone = microphone.name
        channels = link.channels
        health = ChannelsHealth(channels: channels, wanted: microphone.channels)
        mixed = .allocate(capacity: channels == 1 ? 0 : SamplePosition.rate / 10)
        mixed.initialize(repeating: 0)
        isMonitored = microphone.isMonitored
        file = try WaveFile(creating: path, channels: channels, faults: settings.faults)
        sums = RunningSums(beside: path, channels: channels)
        // The first samples at once: the lamp says that they are safe.
        pace = SyncPace(bound: settings.syncNanoseconds, now: MonotonicClock.nanoseconds)
    }

    deinit { mixed.deallocate() }

    /// Writes until capture has ended, and closes the file.
    func run() -> RecordingResult {
        var reason = StopReason.disk
        var failure: DeviceError?
        while true {
            do throws(DeviceError) {
                (reason, failure) = try writeAll()
                try file.close(reason: reason)
                tellSynced()
                sums?.finish(at: end)
                break
            } catch {
                do throws(DeviceError) { try goOn(after: error) } catch {
                    (reason, failure) = (.disk, error)
                    break
                }
            }
        }
        drainEvents()
        // What a shutdown leaves in parts, which may not wait, or what is long, is joined later.
        if parts > 0, reason != .shutdown, end.samples * Int64(channels) <= settings.joinedAtOnce { join() }
        sink.closed(at: end, reason: reason)
        // Nobody waits for it: what a power cut takes of them is made anew.
        sums?.sync()
        return RecordingResult(length: end, reason: reason, gaps: gaps.filter { $0.range.end <= end }, error: failure)
    }

    private func writeAll() throws(DeviceError) -> (StopReason, DeviceError?) {
        while true {
            // Asked before the ring is emptied: what was captured before the end is then seen.
            let outcome = link.captureOutcome
            drainEvents()
            while try link.ring.take(write) {
                try syncIfDue()
            }
            guard let outcome else {
                try syncIfDue()
                link.data.wait(timeout: .nanoseconds(pause))
                continue
            }
            try link.ring.takeRest(write)
            return switch outcome {
            case .stopped: (link.stopReason ?? .command, link.stopReason == .disk ? low : nil)
            case .ended: (.ended, nil)
            case .refused(let error), .failed(let error): (.error, error)
            }
        }
    }

    private func write(_ piece: SampleRing.Piece) throws(DeviceError) {
        switch piece {
        case .samples(let samples):
            try file.append(samples)
            let fresh = UnsafeBufferPointer(rebasing: samples.suffix(Int(clamping: max(0, end - told)) * channels))
            if sink.wantsLevel { measure(fresh) }
            if isMonitored { health.hear(fresh, report: tell) }
            sums?.add(fresh)
        case .lost(let count, let cause):
            let start = end
            try file.appendSilence(count)
            guard start >= told else { break }
            sums?.addSilence(count)
            let gap = Gap(SampleRange(start, end), cause: cause)
            gaps.append(gap)
            sink.lost(gap)
        }
        guard end > told else { return }
        told = end
        // A file that has had no good sync yet may be gone again.
        if previous == nil { sink.written(upTo: told) }
    }

    private func measure(_ frames: UnsafeBufferPointer<Int16>) {
        guard channels > 1 else { return meter.measure(frames, report: sink.level) }
        var rest = frames
        while !rest.isEmpty {
            let part = UnsafeBufferPointer(rebasing: rest.prefix(mixed.count * channels))
            Frames.mix(part, channels: channels, into: mixed)
            meter.measure(
                UnsafeBufferPointer(rebasing: mixed[..<(part.count / channels)]), report: sink.level)
            rest = UnsafeBufferPointer(rebasing: rest[part.count...])
        }
    }

    /// How long to wait for samples: what was captured since they last came shall be in the sync that is due.
    private var pause: Int64 {
        let longest: Int64 = 250_000_000
        return end > syncedUpTo ? max(1_000_000, min(longest, pace.due - MonotonicClock.nanoseconds)) : longest
    }

    private func syncIfDue() throws(DeviceError) {
        guard end > syncedUpTo else { return }
        let wanted = link.syncWantedUpTo
        let isWanted = wanted > syncedUpTo && wanted <= end
        let begin = MonotonicClock.nanoseconds
        guard isWanted || begin >= pace.due || link.ring.needsRelease else { return }
        try file.sync()
        Log.debug(
            .recording, "sync",
            ["upTo": "\(end.seconds)", "milliseconds": "\((MonotonicClock.nanoseconds - begin) / 1_000_000)"])
        link.ring.release()
        link.freed()
        pace.synced(from: begin, to: MonotonicClock.nanoseconds)
        tellSynced()
        sums?.settle(upTo: end)
        reportRemoval()
        do throws(DeviceError) { try settings.reserve?.check() } catch {
            guard error.code == .full, low == nil else { return }
            low = error
            link.stop(reason: .disk)
        }
    }

    private func tellSynced() {
        if previous != nil { sink.written(upTo: told) }
        (failures, previous) = (0, nil)
        guard end > syncedUpTo else { return }
        syncedUpTo = end
        sink.synced(upTo: syncedUpTo)
    }

    /// Reports, once, that the file has lost its name: its sound is gone when it is closed.
    private func reportRemoval() {
        guard !isRemoved, let number = file.removedFile else { return }
        isRemoved = true
        sink.fault(
            code: DeviceError.Code.missing.rawValue,
            message: "\(path): was removed while it is recorded; copy it before the recording ends: "
                + "cp /proc/\(getpid())/fd/\(number) COPY.wav, and begin another recording")
    }

    /// Begins a new file at the last good sync, and has the ring give again what follows it.
    ///
    /// - Throws: the error to end with, where nothing more can be written; the file before is then closed.
    private func goOn(after first: DeviceError) throws(DeviceError) {
        var error = first
        link.ring.rewind()
        while true {
            abandon()
            if error.code == .full, let reserve = settings.reserve, reserve.isExhausted {
                throw endFull(error, reserve)
            }
            if failures == 0 {
                sink.fault(
                    code: error.code.rawValue,
                    message: "\(error.message); the recording goes on in a new file beside it")
            }
            failures += 1
            guard failures <= Self.attempts else { throw endFailed(error) }
            if failures > 1 {
                retry.wait(timeout: .nanoseconds(settings.retryNanoseconds << (2 * (failures - 2))))
            }
            let part = RecordingPart(beside: path, start: syncedUpTo, turn: failures)
            Log.debug(
                .recording, "part", ["path": part.path, "operation": error.operation, "status": "\(error.status)"])
            do throws(DeviceError) {
                let new = try WaveFile(creating: part.path, channels: channels, faults: settings.faults)
                previous = (file, start)
                (file, start) = (new, syncedUpTo)
                parts += 1
                // At once: only a good sync shows that this one may be trusted.
                pace.hurry()
                return
            } catch let refusal { error = refusal }
        }
    }

    /// Goes back to the file before, where the one that failed had never had a good sync.
    private func abandon() {
        guard let previous else { return }
        file.remove()
        parts -= 1
        (file, start) = previous
        self.previous = nil
    }

    private func endFull(_ error: DeviceError, _ reserve: DiskReserve) -> DeviceError {
        let free = ((try? reserve.freeBytes()) ?? 0) / 1_000_000
        // Room for what closing the file and the archive still write.
        reserve.releaseBallast()
        closeEarly()
        return DeviceError(
            .full, error.operation, status: error.status,
            "\(path): the disk is full (\(free) MB are free), so the recording has ended; export recordings and "
                + "delete them")
    }

    private func endFailed(_ error: DeviceError) -> DeviceError {
        closeEarly()
        return DeviceError(
            error.code, error.operation, status: error.status,
            "\(error.message); \(Self.attempts) new files failed as well, so the recording has ended; replace the card "
                + "or name another disk in storage.directory")
    }

    private func closeEarly() {
        link.stop(reason: .disk)
        // It fails again where nothing more can be written; the first error is the one to tell.
        try? file.close(reason: .disk)
    }

    private func join() {
        do throws(DeviceError) {
            // What is left is for the archive; the parts read as one as they are.
            if let reserve = settings.reserve,
                try reserve.freeBytes() < reserve.reserveBytes + end.samples * Frames.bytes(channels: channels)
            {
                throw DeviceError(
                    .full, "statvfs", "\(path): there is no room to join its parts; export recordings and delete them")
            }
            _ = try joinParts(of: path, while: { true })
        } catch {
            sink.fault(
                code: error.code.rawValue,
                message: "\(error.message); the recording stays in parts, which fieldscribe recover joins")
        }
    }

    private func drainEvents() {
        for item in link.takeNews() {
            switch item {
            case .microphoneLost(let error):
                sink.fault(
                    code: DeviceError.Code.disconnected.rawValue,
                    message: "\(error.message); the recording goes on when it is back")
            case .microphoneBack: sink.recovered(code: DeviceError.Code.disconnected.rawValue)
            case .rate(let deviation): if isMonitored { tell(.rate, deviation != 0, nil) }
            case .cancelling(let isPresent): if isMonitored { tell(.cancelling, isPresent, nil) }
            }
        }
    }

    private func tell(_ trouble: MicrophoneHealth.Trouble, _ isPresent: Bool, _ channel: Int?) {
        if isPresent {
            sink.fault(code: trouble.rawValue, message: trouble.message(microphone: microphone, channel: channel))
        } else {
            sink.recovered(code: trouble.rawValue)
        }
    }
}
