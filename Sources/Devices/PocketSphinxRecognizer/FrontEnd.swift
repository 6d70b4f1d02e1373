internal import CPocketSphinx
import Core

/// Owns a front end: whole utterances in, features and the channel's mean out.
final class FrontEnd {
    /// A channel that is known weighs as much as so many frames of the utterance itself: one second.
    private static let channelWeight: Float = 100
    private static let capacity = 64

    // Safety: owned by this object alone, closed once in deinit; nil where the library keeps its own to itself.
    private let pointer: OpaquePointer?
    let warp: Double

    init(decoder: DecoderHandle, warp: Double) {
        pointer = fieldscribe_fe_open(decoder.pointer, warp)
        self.warp = warp
    }

    deinit { if let pointer { fieldscribe_fe_close(pointer) } }

    /// Hands the features of a whole utterance to the decoder, where there is one, and returns the utterance's own mean;
    /// nil where it is too short to have one.
    func process(
        _ samples: UnsafeBufferPointer<Int16>, channel: ChannelState?, by decoder: DecoderHandle?
    ) throws(DeviceError) -> [Float]? {
        var own = [Float](repeating: 0, count: Self.capacity)
        let prior = channel?.cepstralMean ?? []
        let decoding = decoder?.pointer
        // By hand: Swift 6.0's optimizer fails on an array that becomes a pointer or nil.
        let count = prior.withUnsafeBufferPointer { prior in
            own.withUnsafeMutableBufferPointer { own in
                fieldscribe_ps_process_whole(
                    decoding, pointer, samples.baseAddress, samples.count, prior.isEmpty ? nil : prior.baseAddress,
                    Int32(prior.count), Self.channelWeight, own.baseAddress)
            }
        }
        try decoder?.check(count, "ps_process_cep")
        return count > 0 ? Array(own.prefix(Int(count))) : nil
    }
}
