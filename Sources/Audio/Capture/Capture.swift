import Core
import System

/// The capture thread's work: microphone to ring. Allocates nothing while the microphone is open.
///
/// A microphone of real time that fails is opened again by its name until it is back or the recording is stopped; the
/// time between is one loss, by the monotonic clock. Born, used and freed on its thread.
final class Capture {
    /// Samples after which the writer is woken: 250 ms, however small the microphone's blocks are.
    private static let wakeSamples = SamplePosition.rate / 4
    private static let firstPause: Int64 = 100_000_000
    private static let longestPause: Int64 = 2_000_000_000

    private let provider: any MicrophoneProvider
    private let link: CaptureLink
    private let clock: @Sendable () -> Int64
    private let isRealTime: Bool
    private var buffer = UnsafeMutableBufferPointer<Int16>.allocate(capacity: 0)
    /// Samples until the recording ends by itself.
    private var left: Int64
    private var unannounced = 0
    /// Of the recording; a microphone that comes back with another number of them is fitted to it.
    private var channels = 1
    /// Of the microphone that is open.
    private var heardChannels = 1
    private var rate = RateWatch()
    private var isCancelling = false

    /// When the last samples came; what is lost in an outage counts from here.
    private var lastHeard: Int64 = 0
    private var isAway = false
    /// What the time since the last samples is called.
    private var absence = Gap.Cause.microphone
    /// When the microphone was opened again, less what it had heard before; nil for one that hears from then on.
    private var resumed: Int64?
    private var pause = Capture.firstPause

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

    /// Opens the microphone, reads it until it ends or shall be stopped, and tells the link how that went.
    func run() {
        var microphone: (any Microphone)?
        do throws(DeviceError) { microphone = try provider.open() } catch {
            return link.captureEnded(.refused(error))
        }
        Log.debug(.recording, "microphone", ["state": "open", "name": provider.name])
        lastHeard = clock()
        channels = min(microphone?.channels ?? 1, provider.channels)
        link.captureOpened(channels: channels)
        while microphone != nil {
            let outcome = microphone.map(read) ?? .stopped
            guard case .failed(let error) = outcome, isRealTime else {
                if isAway { lose(upTo: clock()) }
                return link.captureEnded(outcome)
            }
            if !isAway {
                link.tell(.microphoneLost(error))
                absence = link.isPaused ? .paused : .microphone
            }
            Log.debug(
                .recording, "microphone", ["state": "lost", "operation": error.operation, "status": "\(error.status)"])
            isAway = true
            rate = RateWatch()
            // Closed before it is opened again: a card has one user.
            microphone = nil
            microphone = reopen()
        }
        lose(upTo: clock())
        link.captureEnded(left > 0 ? .stopped : .ended)
    }

    private func read(_ microphone: any Microphone) -> CaptureLink.Outcome {
        heardChannels = microphone.channels
        let room = microphone.maximumBlock * max(heardChannels, channels)
        if buffer.count < room {
            buffer.deallocate()
            buffer = .allocate(capacity: room)
            buffer.initialize(repeating: 0)
        }
        // A microphone that is faster than time fills a quarter of the ring meanwhile.
        let wakeSamples = isRealTime ? Self.wakeSamples : max(1, link.ring.capacity / 4)
        while !link.isStopping {
            guard left > 0 else { return .ended }
            let block: CaptureBlock
            do throws(DeviceError) { block = try microphone.read(into: buffer) } catch { return .failed(error) }
            switch block {
            case .samples(let count): take(count)
            case .lost(let count): lose(count, cause: link.isPaused ? .paused : isAway ? .microphone : .overrun)
            case .ended: return .ended
            }
            if microphone.channelsCancel != isCancelling {
                isCancelling.toggle()
                link.tell(.cancelling(isCancelling))
            }
            if unannounced >= wakeSamples {
                unannounced = 0
                link.data.signal()
            }
        }
        return .stopped
    }

    private func take(_ count: Int) {
        guard count > 0 else { return }
        if isRealTime {
            let now = clock()
            if isAway { returned(with: count, at: now) }
            lastHeard = now
            watchRate(count, at: now)
        }
        guard !link.isPaused else { return link.ring.lose(advance(count), cause: .paused) }
        if heardChannels != channels { fit(count) }
        let taken = advance(count)
        let samples = UnsafeBufferPointer(rebasing: buffer.prefix(taken * channels))
        if isRealTime { link.ring.put(samples) } else { put(waiting: samples) }
        link.took()
        unannounced += taken
    }

    /// Mixes two channels into one, or gives one to both.
    private func fit(_ count: Int) {
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

    /// So many of these samples as the recording still takes.
    private func advance(_ count: Int) -> Int {
        let taken = Int(min(left, Int64(max(0, count))))
        left -= Int64(taken)
        link.advance(by: taken)
        return taken
    }

    private func watchRate(_ count: Int, at now: Int64) {
        if let deviation = rate.heard(count, at: now) { link.tell(.rate(deviation)) }
    }

    /// The first samples after an outage are there.
    private func returned(with count: Int, at now: Int64) {
        lose(upTo: resumed ?? (now - Int64(count) * 1_000_000_000 / Int64(SamplePosition.rate)))
        isAway = false
        pause = Self.firstPause
        link.tell(.microphoneBack)
    }

    /// What was not heard from the last samples up to `time`.
    private func lose(upTo time: Int64) {
        guard time > lastHeard else { return }
        let seconds = Double(time - lastHeard) / 1e9
        link.ring.lose(advance(Int((seconds * Double(SamplePosition.rate)).rounded())), cause: absence)
        lastHeard = time
    }

    /// Tries until the microphone opens; nil where the recording ends before.
    private func reopen() -> (any Microphone)? {
        while !link.isStopping {
            let lost = clock() - lastHeard
            let room = left < Int64.max / 1_000_000_000 ? left * 1_000_000_000 / Int64(SamplePosition.rate) : .max
            guard lost < room else {
                link.ring.lose(advance(Int(left)), cause: absence)
                return nil
            }
            link.pause(nanoseconds: min(pause, room - lost))
            if link.isPaused != (absence == .paused) {
                lose(upTo: clock())
                absence = link.isPaused ? .paused : .microphone
            }
            pause = min(2 * pause, Self.longestPause)
            guard !link.isStopping, let microphone = try? provider.open() else { continue }
            Log.debug(.recording, "microphone", ["state": "reopened", "name": provider.name])
            let before = microphone.prerollSamples
            resumed = before > 0 ? clock() - Int64(before) * 1_000_000_000 / Int64(SamplePosition.rate) : nil
            return microphone
        }
        return nil
    }

    /// For a microphone that is faster than time: what the ring cannot take yet is waited for instead of dropped.
    private func put(waiting samples: UnsafeBufferPointer<Int16>) {
        var rest = samples[...]
        while !rest.isEmpty {
            // In quarters of the ring, whose other half may be kept until it is synced.
            let part = UnsafeBufferPointer(rebasing: rest.prefix(channels * max(1, link.ring.capacity / 4)))
            let count = part.count / channels
            if !link.ring.hasRoom(for: count) {
                link.data.signal()
                link.waitForRoom(for: count)
                // The block that was not taken before the stop is no loss: nobody spoke it.
                if link.isStopping, !link.ring.hasRoom(for: count) { return }
            }
            link.ring.put(part)
            rest = rest.dropFirst(part.count)
        }
    }
}
