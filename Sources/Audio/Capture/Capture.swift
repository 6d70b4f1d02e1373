import Core
import System

/// Runs on the capture thread: reads from the microphone into the ring. Reading samples does not allocate.
///
/// If a real-time microphone fails, `Capture` tries to reopen it by name until the recording stops. The outage becomes a
/// gap, measured with the monotonic clock. Create, use and release a `Capture` on the capture thread.
final class Capture {
    /// The number of samples, 250 ms, after which the writer is woken regardless of the microphone's block size.
    private static let wakeSamples = SamplePosition.rate / 4
    /// The initial and maximum delays before a microphone is reopened, in nanoseconds.
    static let initialDelay: Int64 = 100_000_000
    static let maximumDelay: Int64 = 2_000_000_000

    private let provider: any MicrophoneProvider
    private let link: CaptureLink
    private let clock: @Sendable () -> Int64
    private let isRealTime: Bool
    private var buffer = UnsafeMutableBufferPointer<Int16>.allocate(capacity: 0)
    /// The number of samples until the recording reaches its maximum length.
    private var remaining: Int64
    private var samplesSinceSignal = 0
    /// The recording's channel count. Audio from a reopened microphone with a different count is converted.
    private var channels = 1
    private var microphoneChannels = 1
    private var rateMonitor = RateMonitor()
    private var isCancelling = false

    /// When the last samples arrived, which is when an outage starts.
    private var lastSamplesAt: Int64 = 0
    private var isMicrophoneLost = false
    /// The cause of the current gap.
    private var gapCause = Gap.Cause.microphone
    /// The start of the reopened microphone's preroll; nil if it has no preroll.
    private var prerollStart: Int64?
    private var retryDelay = Capture.initialDelay

    init(
        provider: any MicrophoneProvider, link: CaptureLink, length: SamplePosition?,
        clock: @escaping @Sendable () -> Int64
    ) {
        self.provider = provider
        self.link = link
        self.clock = clock
        isRealTime = provider.isRealTime
        remaining = length?.samples ?? .max
    }

    deinit { buffer.deallocate() }

    /// Reads from the microphone until it ends or the link stops it, and reports the outcome to the link.
    func run() {
        var microphone: (any Microphone)?
        do throws(DeviceError) { microphone = try provider.open() } catch {
            return link.captureEnded(.refused(error))
        }
        Log.debug(.recording, "microphone", ["state": "open", "name": provider.name])
        lastSamplesAt = clock()
        channels = min(microphone?.channels ?? 1, provider.channels)
        link.captureOpened(channels: channels)
        while microphone != nil {
            let outcome = microphone.map(read) ?? .stopped
            guard case .failed(let error) = outcome, isRealTime else {
                if isMicrophoneLost { addLoss(upTo: clock()) }
                return link.captureEnded(outcome)
            }
            if !isMicrophoneLost {
                link.report(.microphoneLost(error))
                gapCause = link.isPaused ? .paused : .microphone
            }
            Log.debug(
                .recording, "microphone", ["state": "lost", "operation": error.operation, "status": "\(error.status)"])
            isMicrophoneLost = true
            rateMonitor = RateMonitor()
            // Close it first, because a sound card can have only one user.
            microphone = nil
            microphone = reopen()
        }
        addLoss(upTo: clock())
        link.captureEnded(remaining > 0 ? .stopped : .ended)
    }

    private func read(_ microphone: any Microphone) -> CaptureLink.Outcome {
        microphoneChannels = microphone.channels
        let capacity = microphone.maximumBlock * max(microphoneChannels, channels)
        if buffer.count < capacity {
            buffer.deallocate()
            buffer = .allocate(capacity: capacity)
            buffer.initialize(repeating: 0)
        }
        // Let a faster-than-real-time microphone fill a quarter of the ring between wakes.
        let wakeSamples = isRealTime ? Self.wakeSamples : max(1, link.ring.capacity / 4)
        while !link.isStopping {
            guard remaining > 0 else { return .ended }
            let block: CaptureBlock
            do throws(DeviceError) { block = try microphone.read(into: buffer) } catch { return .failed(error) }
            switch block {
            case .samples(let count): append(count)
            case .lost(let count):
                addLoss(count, cause: link.isPaused ? .paused : isMicrophoneLost ? .microphone : .overrun)
            case .ended: return .ended
            }
            if microphone.channelsCancel != isCancelling {
                isCancelling.toggle()
                link.report(.cancelling(isCancelling))
            }
            if samplesSinceSignal >= wakeSamples {
                samplesSinceSignal = 0
                link.data.signal()
            }
        }
        return .stopped
    }

    private func append(_ count: Int) {
        guard count > 0 else { return }
        if isRealTime {
            let now = clock()
            if isMicrophoneLost { endOutage(samples: count, at: now) }
            lastSamplesAt = now
            watchRate(count, at: now)
        }
        guard !link.isPaused else { return link.ring.addLoss(advance(count), cause: .paused) }
        if microphoneChannels != channels { convertChannels(count) }
        let accepted = advance(count)
        let samples = UnsafeBufferPointer(rebasing: buffer.prefix(accepted * channels))
        if isRealTime { link.ring.put(samples) } else { putBlocking(samples) }
        link.markAudioCaptured()
        samplesSinceSignal += accepted
    }

    /// Mixes two channels into one, or copies one channel to both.
    private func convertChannels(_ count: Int) {
        if channels == 1 {
            for index in 0..<count { buffer[index] = Frames.mixed(buffer[2 * index], buffer[2 * index + 1]) }
        } else {
            for index in (0..<count).reversed() {
                let sample = buffer[index]
                (buffer[2 * index], buffer[2 * index + 1]) = (sample, sample)
            }
        }
    }

    private func addLoss(_ count: Int, cause: Gap.Cause) {
        if isRealTime { watchRate(count, at: clock()) }
        link.ring.addLoss(advance(count), cause: cause)
    }

    /// Advances the position. Returns how many of the samples fit into the recording's maximum length.
    private func advance(_ count: Int) -> Int {
        let accepted = Int(min(remaining, Int64(max(0, count))))
        remaining -= Int64(accepted)
        link.advance(by: accepted)
        return accepted
    }

    private func watchRate(_ count: Int, at now: Int64) {
        if let deviation = rateMonitor.append(count, at: now) { link.report(.rate(deviation)) }
    }

    /// Adds the gap before the first samples after an outage.
    private func endOutage(samples count: Int, at now: Int64) {
        addLoss(upTo: prerollStart ?? (now - Int64(count) * 1_000_000_000 / Int64(SamplePosition.rate)))
        isMicrophoneLost = false
        retryDelay = Self.initialDelay
        link.report(.microphoneBack)
    }

    /// Adds the time since the last samples, up to `time`, as a gap.
    private func addLoss(upTo time: Int64) {
        guard time > lastSamplesAt else { return }
        let seconds = Double(time - lastSamplesAt) / 1e9
        link.ring.addLoss(advance(Int((seconds * Double(SamplePosition.rate)).rounded())), cause: gapCause)
        lastSamplesAt = time
    }

    /// Tries to open the microphone until that succeeds. Returns nil if the recording ends first.
    private func reopen() -> (any Microphone)? {
        while !link.isStopping {
            let outage = clock() - lastSamplesAt
            let limit =
                remaining < Int64.max / 1_000_000_000
                ? remaining * 1_000_000_000 / Int64(SamplePosition.rate) : .max
            guard outage < limit else {
                link.ring.addLoss(advance(Int(remaining)), cause: gapCause)
                return nil
            }
            link.sleep(nanoseconds: min(retryDelay, limit - outage))
            if link.isPaused != (gapCause == .paused) {
                addLoss(upTo: clock())
                gapCause = link.isPaused ? .paused : .microphone
            }
            retryDelay = min(2 * retryDelay, Self.maximumDelay)
            guard !link.isStopping, let microphone = try? provider.open() else { continue }
            Log.debug(.recording, "microphone", ["state": "reopened", "name": provider.name])
            let preroll = microphone.prerollSamples
            prerollStart = preroll > 0 ? clock() - Int64(preroll) * 1_000_000_000 / Int64(SamplePosition.rate) : nil
            return microphone
        }
        return nil
    }

    /// Appends samples from a microphone that is faster than real time. Waits for space instead of dropping samples.
    private func putBlocking(_ samples: UnsafeBufferPointer<Int16>) {
        var rest = samples[...]
        while !rest.isEmpty {
            // Put at most a quarter of the ring at a time, because up to half of it is not released until a sync.
            let part = UnsafeBufferPointer(rebasing: rest.prefix(channels * max(1, link.ring.capacity / 4)))
            let count = part.count / channels
            if !link.ring.hasSpace(for: count) {
                link.data.signal()
                link.waitForSpace(for: count)
                // Not a gap, because samples after the stop are not part of the recording.
                if link.isStopping, !link.ring.hasSpace(for: count) { return }
            }
            link.ring.put(part)
            rest = rest.dropFirst(part.count)
        }
    }
}
