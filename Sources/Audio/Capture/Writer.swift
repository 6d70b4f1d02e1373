import Core
import Glibc
import System

/// Runs on the writer thread: writes the ring to the disk and reports to the sink. Create, use and release a `Writer` on
/// that thread.
///
/// The ring keeps samples until they are synced. If the disk fails, everything since the last successful sync is
/// written to a new file, because the old file cannot be trusted after a failed fsync.
final class Writer {
    /// The number of consecutive new files that may fail before the recording ends.
    private static let maximumAttempts = 3

    private let path: String
    private let link: CaptureLink
    private let sink: any RecordingSink
    private let settings: RecordingSession.Settings
    private let microphone: String
    private let isMonitored: Bool

    /// The location of the first file. Its folder is kept open, so that the recording continues there if it is renamed.
    private let location: RecordingLocation
    private var file: WaveFile
    /// The position of the file's first sample in the recording.
    private var start = SamplePosition.zero
    /// The previous file, until the new one has been synced.
    private var previous: (file: WaveFile, start: SamplePosition)?
    private var partCount = 0
    private var failureCount = 0

    private var gaps: [Gap] = []
    private var meter = LevelMeter()
    private var health: ChannelsHealth
    private let channels: Int
    /// A buffer for a mono mix of 0.1 s.
    private let mixed: UnsafeMutableBufferPointer<Int16>
    /// The position up to which audio was reported to the sink. Rewritten samples are not reported again.
    private var reportedUpTo = SamplePosition.zero
    private var syncedUpTo = SamplePosition.zero
    private var pace: SyncPace
    /// The running checksums; nil if their file could not be created, which `verify` reports.
    private let sums: RunningSums?
    /// Whether it was reported that the file was deleted during the recording.
    private var isDeletionReported = false
    /// The error that stopped the recording because less than the reserve was free; otherwise nil.
    private var fullError: DeviceError?
    private let retry = Wakeup()

    private var end: SamplePosition { start + file.end.samples }

    init(
        path: String, link: CaptureLink, sink: any RecordingSink, settings: RecordingSession.Settings,
        microphone: any MicrophoneProvider
    ) throws(DeviceError) {
        self.path = path
        self.link = link
        self.sink = sink
        self.settings = settings
        self.microphone = microphone.name
        channels = link.ring.channels
        health = ChannelsHealth(channels: channels, requested: microphone.channels)
        mixed = .allocate(capacity: channels == 1 ? 0 : SamplePosition.rate / 10)
        mixed.initialize(repeating: 0)
        isMonitored = microphone.isMonitored
        location = try RecordingLocation(path)
        file = try WaveFile(creating: location, channels: channels, faults: settings.faults)
        sums = RunningSums(beside: path, channels: channels)
        pace = SyncPace(bound: settings.syncNanoseconds, now: MonotonicClock.nanoseconds)
    }

    deinit { mixed.deallocate() }

    /// Writes until capture ends, then closes the file.
    func run() -> RecordingResult {
        var reason = StopReason.disk
        var failure: DeviceError?
        while true {
            do throws(DeviceError) {
                (reason, failure) = try writeAll()
                try file.close(reason: reason)
                reportSynced()
                sums?.finish(at: end)
                break
            } catch {
                do throws(DeviceError) { try recover(from: error) } catch {
                    (reason, failure) = (.disk, error)
                    break
                }
            }
        }
        drainEvents()
        // Maintenance joins the parts later if the recording is long, or if a shutdown ended it and cannot wait.
        if partCount > 0, reason != .shutdown, end.samples * Int64(channels) <= settings.immediateJoinLimit { join() }
        sink.closed(at: end, reason: reason)
        // The sync can wait until after the report, because checksums lost in a power cut are recomputed.
        sums?.sync()
        return RecordingResult(length: end, reason: reason, gaps: gaps.filter { $0.range.end <= end }, error: failure)
    }

    private func writeAll() throws(DeviceError) -> (StopReason, DeviceError?) {
        while true {
            // Read the outcome before emptying the ring, so that no samples are left in it after the end.
            let outcome = link.captureOutcome
            drainEvents()
            while try link.ring.consume(write) {
                try syncIfDue()
            }
            guard let outcome else {
                try syncIfDue()
                link.data.wait(timeout: .nanoseconds(waitTime))
                continue
            }
            try link.ring.consumeRest(write)
            return switch outcome {
            case .stopped: (link.stopReason ?? .command, link.stopReason == .disk ? fullError : nil)
            case .ended: (.ended, nil)
            case .refused(let error), .failed(let error): (.error, error)
            }
        }
    }

    private func write(_ element: SampleRing.Element) throws(DeviceError) {
        switch element {
        case .samples(let samples):
            try file.append(samples)
            let newSamples = UnsafeBufferPointer(
                rebasing: samples.suffix(Int(clamping: max(0, end - reportedUpTo)) * channels))
            if sink.wantsLevel { measure(newSamples) }
            if isMonitored { health.append(newSamples, report: report) }
            sums?.add(newSamples)
        case .lost(let count, let cause):
            let start = end
            try file.appendSilence(count)
            guard start >= reportedUpTo else { break }
            sums?.addSilence(count)
            let gap = Gap(SampleRange(start, end), cause: cause)
            gaps.append(gap)
            sink.lost(gap)
        }
        guard end > reportedUpTo else { return }
        reportedUpTo = end
        // A new file may still be discarded until it has been synced successfully.
        if previous == nil { sink.written(upTo: reportedUpTo) }
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

    /// How long to wait for more samples, in nanoseconds: until the next sync is due, but at most 250 ms.
    private var waitTime: Int64 {
        let maximum: Int64 = 250_000_000
        return end > syncedUpTo ? max(1_000_000, min(maximum, pace.due - MonotonicClock.nanoseconds)) : maximum
    }

    private func syncIfDue() throws(DeviceError) {
        guard end > syncedUpTo else { return }
        let requestedUpTo = link.syncRequestedUpTo
        let isRequested = requestedUpTo > syncedUpTo && requestedUpTo <= end
        let begin = MonotonicClock.nanoseconds
        guard isRequested || begin >= pace.due || link.ring.needsRelease else { return }
        try file.sync()
        Log.debug(
            .recording, "sync",
            ["upTo": "\(end.seconds)", "milliseconds": "\((MonotonicClock.nanoseconds - begin) / 1_000_000)"])
        link.ring.release()
        link.space.signal()
        pace.recordSync(from: begin, to: MonotonicClock.nanoseconds)
        reportSynced()
        sums?.writeLines(upTo: end)
        reportDeletion()
        do throws(DeviceError) { try settings.reserve?.check() } catch {
            guard error.code == .full, fullError == nil else { return }
            fullError = error
            link.stop(reason: .disk)
        }
    }

    private func reportSynced() {
        if previous != nil { sink.written(upTo: reportedUpTo) }
        (failureCount, previous) = (0, nil)
        guard end > syncedUpTo else { return }
        syncedUpTo = end
        sink.synced(upTo: syncedUpTo)
    }

    /// Reports once that the file was deleted, because its audio will be lost when the file is closed.
    private func reportDeletion() {
        guard !isDeletionReported, let descriptor = file.deletedFileDescriptor else { return }
        isDeletionReported = true
        sink.fault(
            code: DeviceError.Code.missing.rawValue,
            message: "\(path): was deleted during the recording; copy it before the recording ends: "
                + "cp /proc/\(getpid())/fd/\(descriptor) COPY.wav, then start another recording")
    }

    /// Rewinds the ring to the last successful sync and starts a new file there.
    ///
    /// - Throws: The final error if nothing more can be written. The previous file is then closed.
    private func recover(from initialError: DeviceError) throws(DeviceError) {
        var error = initialError
        link.ring.rewind()
        while true {
            abandon()
            if error.code == .full, let reserve = settings.reserve, reserve.isExhausted {
                throw finishOnFullDisk(error, reserve)
            }
            if failureCount == 0 {
                sink.fault(
                    code: error.code.rawValue,
                    message: "\(error.message); the recording continues in a new file")
            }
            failureCount += 1
            guard failureCount <= Self.maximumAttempts else { throw finishAfterFailures(error) }
            if failureCount > 1 {
                retry.wait(timeout: .nanoseconds(settings.retryNanoseconds << (2 * (failureCount - 2))))
            }
            let part = RecordingPart(beside: path, start: syncedUpTo, ordinal: failureCount)
            Log.debug(
                .recording, "part", ["path": part.path, "operation": error.operation, "status": "\(error.status)"])
            do throws(DeviceError) {
                let newFile = try WaveFile(
                    creating: location.sibling(part.name), channels: channels, faults: settings.faults)
                previous = (file, start)
                (file, start) = (newFile, syncedUpTo)
                partCount += 1
                // Sync immediately, because only a successful sync proves that the new file works.
                pace.makeDue()
                return
            } catch let newError { error = newError }
        }
    }

    /// Returns to the previous file if the failed one has never been synced.
    private func abandon() {
        guard let previous else { return }
        file.remove()
        partCount -= 1
        (file, start) = previous
        self.previous = nil
    }

    private func finishOnFullDisk(_ error: DeviceError, _ reserve: DiskReserve) -> DeviceError {
        let free = ((try? reserve.freeBytes()) ?? 0) / 1_000_000
        // Free space for closing the file and writing to the archive.
        reserve.releaseBallast()
        closeEarly()
        return DeviceError(
            .full, error.operation, status: error.status,
            "\(path): the disk is full (\(free) MB are free), so the recording ended; export recordings and "
                + "delete them")
    }

    private func finishAfterFailures(_ error: DeviceError) -> DeviceError {
        closeEarly()
        return DeviceError(
            error.code, error.operation, status: error.status,
            "\(error.message); \(Self.maximumAttempts) new files failed too, so the recording ended; replace the card, "
                + "or set storage.directory to another disk")
    }

    private func closeEarly() {
        link.stop(reason: .disk)
        // This may fail again, but the first error is the one to report.
        try? file.close(reason: .disk)
    }

    private func join() {
        do throws(DeviceError) {
            // Do not use the reserve, because parts can be read without joining them.
            if let reserve = settings.reserve,
                try reserve.freeBytes() < reserve.reserveBytes + end.samples * Frames.bytes(channels: channels)
            {
                throw DeviceError(
                    .full, "statvfs", "\(path): not enough space to join its parts; export recordings and delete them")
            }
            _ = try joinParts(of: location, while: { true })
        } catch {
            sink.fault(
                code: error.code.rawValue,
                message: "\(error.message); the recording remains in parts; join them with fieldscribe recover")
        }
    }

    private func drainEvents() {
        for event in link.drainEvents() {
            switch event {
            case .microphoneLost(let error):
                sink.fault(
                    code: DeviceError.Code.disconnected.rawValue,
                    message: "\(error.message); the recording continues when it is back")
            case .microphoneBack: sink.recovered(code: DeviceError.Code.disconnected.rawValue)
            case .rate(let deviation): if isMonitored { report(.rate, deviation != 0, nil) }
            case .cancelling(let isPresent): if isMonitored { report(.cancelling, isPresent, nil) }
            }
        }
    }

    private func report(_ fault: MicrophoneHealth.Fault, _ isPresent: Bool, _ channel: Int?) {
        if isPresent {
            sink.fault(code: fault.rawValue, message: fault.message(microphone: microphone, channel: channel))
        } else {
            sink.recovered(code: fault.rawValue)
        }
    }
}
