import Core

/// The capture thread's work: microphone to ring. Allocates nothing once the microphone is open.
struct Capture: Sendable {
    /// Samples after which the writer is woken: 250 ms, however small the microphone's blocks are.
    private static let wakeSamples = SamplePosition.rate / 4

    let provider: any MicrophoneProvider
    let link: CaptureLink

    /// Opens the microphone, reads it until it ends or shall be stopped, and tells the link how that went.
    func run() {
        let microphone: any Microphone
        do throws(DeviceError) { microphone = try provider.open() } catch {
            return link.captureEnded(.refused(error))
        }
        let buffer = UnsafeMutableBufferPointer<Int16>.allocate(capacity: max(1, microphone.maximumBlock))
        buffer.initialize(repeating: 0)
        defer { buffer.deallocate() }
        link.captureOpened()
        link.captureEnded(read(microphone, into: buffer))
    }

    private func read(
        _ microphone: any Microphone, into buffer: UnsafeMutableBufferPointer<Int16>
    ) -> CaptureLink.Outcome {
        let isRealTime = provider.isRealTime
        // A microphone that is faster than time fills a quarter of the ring meanwhile.
        let wakeSamples = isRealTime ? Self.wakeSamples : max(1, link.ring.capacity / 4)
        var unannounced = 0
        while !link.isStopping {
            let block: CaptureBlock
            do throws(DeviceError) { block = try microphone.read(into: buffer) } catch { return .failed(error) }
            switch block {
            case .samples(let count):
                let samples = UnsafeBufferPointer(rebasing: buffer.prefix(max(0, count)))
                if !isRealTime { put(waiting: samples) } else { link.ring.put(samples) }
                unannounced += samples.count
            case .lost(let count): link.ring.lose(count, cause: .overrun)
            case .ended: return .ended
            }
            if unannounced >= wakeSamples {
                unannounced = 0
                link.data.signal()
            }
        }
        return .stopped
    }

    /// For a microphone that is faster than time: what the ring cannot take yet is waited for instead of dropped.
    private func put(waiting samples: UnsafeBufferPointer<Int16>) {
        var rest = samples[...]
        while !rest.isEmpty {
            let part = UnsafeBufferPointer(rebasing: rest.prefix(link.ring.capacity))
            if !link.ring.hasRoom(for: part.count) {
                link.data.signal()
                link.waitForRoom(for: part.count)
                // The block that was not taken before the stop is no loss: nobody spoke it.
                if link.isStopping, !link.ring.hasRoom(for: part.count) { return }
            }
            link.ring.put(part)
            rest = rest.dropFirst(part.count)
        }
    }
}
