import Core
import System

/// The work of the capture thread: reads the microphone into the ring. Allocates nothing while the microphone is open.
///
/// When a real-time microphone fails, it is reopened by name until it returns or the recording stops. The outage becomes
/// one loss, measured with the monotonic clock. Created, used and freed on the capture thread.
final class Capture {
    /// The number of samples after which the writer wakes (250 ms), independent of the microphone's block size.
    private static let wakeSamples = SamplePosition.rate / 4
    /// The first and the longest delay before a microphone is opened again, in nanoseconds.
    static let firstDelay: Int64 = 100_000_000
    static let longestDelay: Int64 = 2_000_000_000

    private let provider: any MicrophoneProvider
    private let link: CaptureLink
    private let clock: @Sendable () -> Int64
    private let isRealTime: Bool
    private var buffer = UnsafeMutableBufferPointer<Int16>.allocate(capacity: 0)
    /// The number of samples until the recording reaches its maximum length.
    private var left: Int64
    private var unsignaled = 0
    /// The recording's channel count. A reopened microphone with another count is converted to it.
    private var channels = 1
    private var microphoneChannels = 1
    private var rate = RateWatch()
    private var isCancelling = false

    /// When the last samples arrived; an outage is measured from here.
    private var lastSamplesAt: Int64 = 0
    private var isLost = false
    /// The gap cause for the time since the last samples.
    private var gapCause = Gap.Cause.microphone
    /// When the reopened microphone's audio begins: before its preroll, or nil without a preroll.
    private var resumedAt: Int64?
    private var retryDelay = Capture.firstDelay

    init(
        provider: any MicrophoneProvider, link: CaptureLink, length: SamplePosition?,
        clock: @escaping @Sendable () -> Int64
    ) {
        self.provider = provider
        self.link = link
        self.clock = clock
        isRealTime = provider.isRealTime
        left = length?.samples ?? .max
    }

    deinit { buffer.deallocate() }

    /// Reads the microphone until it ends or the link stops it, and reports the outcome to the link.
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
            rate = RateWatch()
            // Close it first: a sound card has one user.
            microphone = nil
            microphone = reopen()
        }
        lose(upTo: clock())
        link.captureEnded(left > 0 ? .stopped : .ended)
    }

    private func read(_ microphone: any Microphone) -> CaptureLink.Outcome {
        microphoneChannels = microphone.channels
        let room = microphone.maximumBlock * max(microphoneChannels, channels)
        if buffer.count < room {
            buffer.deallocate()
            buffer = .allocate(capacity: room)
            buffer.initialize(repeating: 0)
        }
        // A faster-than-real-time microphone fills a quarter of the ring between wakes.
        let wakeSamples = isRealTime ? Self.wakeSamples : max(1, link.ring.capacity / 4)
        while !link.isStopping {
            guard left > 0 else { return .ended }
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
        link.advanceHeard()
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

    /// Advances the position, and returns how many of the samples still fit into the recording's length.
    private func advance(_ count: Int) -> Int {
        let accepted = Int(min(left, Int64(max(0, count))))
        left -= Int64(accepted)
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
        retryDelay = Self.firstDelay
        link.report(.microphoneBack)
    }

    /// Records the time since the last samples as lost, up to `time`.
    private func lose(upTo time: Int64) {
        guard time > lastSamplesAt else { return }
        let seconds = Double(time - lastSamplesAt) / 1e9
        link.ring.lose(advance(Int((seconds * Double(SamplePosition.rate)).rounded())), cause: gapCause)
        lastSamplesAt = time
    }

    /// Retries until the microphone opens; returns nil if the recording ends first.
    private func reopen() -> (any Microphone)? {
        while !link.isStopping {
            let lost = clock() - lastSamplesAt
            let room = left < Int64.max / 1_000_000_000 ? left * 1_000_000_000 / Int64(SamplePosition.rate) : .max
            guard lost < room else {
                link.ring.lose(advance(Int(left)), cause: gapCause)
                return nil
            }
            link.sleep(nanoseconds: min(retryDelay, room - lost))
            if link.isPaused != (gapCause == .paused) {
                lose(upTo: clock())
                gapCause = link.isPaused ? .paused : .microphone
            }
            retryDelay = min(2 * retryDelay, Self.longestDelay)
            guard !link.isStopping, let microphone = try? provider.open() else { continue }
            Log.debug(.recording, "microphone", ["state": "reopened", "name": provider.name])
            let before = microphone.prerollSamples
            resumedAt = before > 0 ? clock() - Int64(before) * 1_000_000_000 / Int64(SamplePosition.rate) : nil
            return microphone
        }
        return nil
    }

    /// For a microphone faster than real time: waits for space instead of dropping samples.
    private func put(waiting samples: UnsafeBufferPointer<Int16>) {
        var rest = samples[...]
        while !rest.isEmpty {
            // At most a quarter of the ring at a time: up to half of it stays unreleased until a sync.
            let part = UnsafeBufferPointer(rebasing: rest.prefix(channels * max(1, link.ring.capacity / 4)))
            let count = part.count / channels
            if !link.ring.hasRoom(for: count) {
                link.data.signal()
                link.waitForRoom(for: count)
                // Not a loss: a file's samples after the stop were never part of the recording.
                if link.isStopping, !link.ring.hasRoom(for: count) { return }
            }
            link.ring.put(part)
            rest = rest.dropFirst(part.count)
        }
    }
}
