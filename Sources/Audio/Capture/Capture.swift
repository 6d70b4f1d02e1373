import Core
import System

/// Runs on the capture thread: reads from the microphone into the ring. Does not allocate while the microphone is open.
///
/// If a real-time microphone fails, it is reopened by name until it is back or the recording stops. The outage becomes
/// one gap, measured with the monotonic clock. Created, used and released on the capture thread.
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
    private var unsignaled = 0
    /// The recording's channel count. Audio from a reopened microphone with a different count is converted.
    private var channels = 1
    private var microphoneChannels = 1
    private var rate = RateMonitor()
    private var isCancelling = false

    /// When the last samples arrived, which is where an outage starts.
    private var lastSamplesAt: Int64 = 0
    private var isLost = false
    /// The cause of the gap since the last samples.
    private var gapCause = Gap.Cause.microphone
    /// The start of the reopened microphone's preroll; nil if it has no preroll.
    private var resumedAt: Int64?
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
                if isLost { lose(upTo: clock()) }
                return link.captureEnded(outcome)
            }
            if !isLost {
                link.report(.microphoneLost(error))
                gapCause = link.isPaused ? .paused : .microphone
            }
            Log.debug(
                .recording, "microphone", ["state": "lost", "operation": error.operation, "status": "\(error.status)"])
            isLost = true
            rate = RateMonitor()
            // Close it first, because a sound card can have only one user.
            microphone = nil
            microphone = reopen()
        }
        lose(upTo: clock())
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
        // A faster-than-real-time microphone fills a quarter of the ring between wakes.
        let wakeSamples = isRealTime ? Self.wakeSamples : max(1, link.ring.capacity / 4)
        while !link.isStopping {
            guard remaining > 0 else { return .ended }
            let block: CaptureBlock
            do throws(DeviceError) { block = try microphone.read(into: buffer) } catch { return .failed(error) }
            switch block {
            case .samples(let count): append(count)
            case .lost(let count): lose(count, cause: link.isPaused ? .paused : isLost ? .microphone : .overrun)
            case .ended: return .ended
            }
            if microphone.channelsCancel != isCancelling {
                isCancelling.toggle()
                link.report(.cancelling(isCancelling))
            }
            if unsignaled >= wakeSamples {
                unsignaled = 0
                link.data.signal()
            }
        }
        return .stopped
    }

    private func append(_ count: Int) {
        guard count > 0 else { return }
        if isRealTime {
            let now = clock()
            if isLost { endOutage(with: count, at: now) }
            lastSamplesAt = now
            watchRate(count, at: now)
        }
        guard !link.isPaused else { return link.ring.lose(advance(count), cause: .paused) }
        if microphoneChannels != channels { convertChannels(count) }
        let accepted = advance(count)
        let samples = UnsafeBufferPointer(rebasing: buffer.prefix(accepted * channels))
        if isRealTime { link.ring.put(samples) } else { put(waiting: samples) }
        link.markAudioCaptured()
        unsignaled += accepted
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

    private func lose(_ count: Int, cause: Gap.Cause) {
        if isRealTime { watchRate(count, at: clock()) }
        link.ring.lose(advance(count), cause: cause)
    }

    /// Advances the position. Returns how many of the samples fit into the recording's maximum length.
    private func advance(_ count: Int) -> Int {
        let accepted = Int(min(remaining, Int64(max(0, count))))
        remaining -= Int64(accepted)
        link.advance(by: accepted)
        return accepted
    }

    private func watchRate(_ count: Int, at now: Int64) {
        if let deviation = rate.append(count, at: now) { link.report(.rate(deviation)) }
    }

    /// Handles the first samples after an outage.
    private func endOutage(with count: Int, at now: Int64) {
        lose(upTo: resumedAt ?? (now - Int64(count) * 1_000_000_000 / Int64(SamplePosition.rate)))
        isLost = false
        retryDelay = Self.initialDelay
        link.report(.microphoneBack)
    }

    /// Records the time since the last samples as lost, up to `time`.
    private func lose(upTo time: Int64) {
        guard time > lastSamplesAt else { return }
        let seconds = Double(time - lastSamplesAt) / 1e9
        link.ring.lose(advance(Int((seconds * Double(SamplePosition.rate)).rounded())), cause: gapCause)
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
                link.ring.lose(advance(Int(remaining)), cause: gapCause)
                return nil
            }
            link.sleep(nanoseconds: min(retryDelay, limit - outage))
            if link.isPaused != (gapCause == .paused) {
                lose(upTo: clock())
                gapCause = link.isPaused ? .paused : .microphone
            }
            retryDelay = min(2 * retryDelay, Self.maximumDelay)
            guard !link.isStopping, let microphone = try? provider.open() else { continue }
            Log.debug(.recording, "microphone", ["state": "reopened", "name": provider.name])
            let preroll = microphone.prerollSamples
            resumedAt = preroll > 0 ? clock() - Int64(preroll) * 1_000_000_000 / Int64(SamplePosition.rate) : nil
            return microphone
        }
        return nil
    }

    /// Appends samples from a microphone that is faster than real time. Waits for space instead of dropping samples.
    private func put(waiting samples: UnsafeBufferPointer<Int16>) {
        var rest = samples[...]
        while !rest.isEmpty {
            // At most a quarter of the ring at a time, because up to half of it is not released until a sync.
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
