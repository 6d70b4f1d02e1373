import Core

/// Moonshine's two networks: an encoder for audio and a decoder that generates tokens.
///
/// Shapes by tensor name, for b hypotheses, n samples, T frames of 24 ms and w values per frame: `input_values` f32 [1, n],
/// samples in -1...1 at 16 kHz; `last_hidden_state` f32 [1, T, w]; the decoder's `encoder_attention_mask` i64 [1, n]
/// (samples, not frames); `past_key_values.LAYER.decoder.{key,value}` f32 [b, heads, length, size], the same for
/// `encoder` with 1 instead of b; `logits` f32 [b, 1, tokens].
final class MoonshineNetwork {
    static let minSamples = 895

    let tokenizer: Tokenizer
    let runtime: OnnxRuntime
    private let encoder: OnnxSession
    private let decoder: OnnxSession
    private let shape: MoonshineShape
    private let inputNames: CStrings
    private let outputNames: (firstStep: CStrings, laterSteps: CStrings)
    private let encoderNames = (
        inputs: CStrings(["input_values", "attention_mask"]), outputs: CStrings(["last_hidden_state"])
    )

    /// - Throws: `DeviceError` with `missing` for the runtime or a file, `damaged` or `unsupported` for an invalid
    ///   file.
    init(_ model: MoonshineModel, prepacks: Bool) throws(DeviceError) {
        runtime = try OnnxRuntime(OnnxRuntime.candidates(beside: model.path))
        tokenizer = try Tokenizer(path: model.tokenizer)
        encoder = try OnnxSession(model.encoder, of: runtime, prepacks: prepacks)
        decoder = try OnnxSession(model.decoder, of: runtime, prepacks: prepacks)
        shape = try MoonshineShape(
            encoder: (encoder.inputs, encoder.outputs), decoder: (decoder.inputs, decoder.outputs),
            tokens: tokenizer.count, path: model.decoder)
        let tokenInputs = ["input_ids", "encoder_hidden_states", "encoder_attention_mask", "use_cache_branch"]
        inputNames = CStrings(tokenInputs + shape.past.decoder + shape.past.encoder)
        let laterOutputs = ["logits"] + MoonshineShape.present(shape.past.decoder)
        outputNames = (CStrings(laterOutputs + MoonshineShape.present(shape.past.encoder)), CStrings(laterOutputs))
    }

    /// The encoded audio and the decoder's state.
    struct State {
        fileprivate let hidden: OnnxTensor
        fileprivate let mask: OnnxTensor
        fileprivate let encoderState: [OnnxTensor]
        fileprivate var decoderState: [OnnxTensor]
        fileprivate var logits: OnnxTensor
        /// The number of hypotheses.
        fileprivate var rows = 1
    }

    /// Encodes audio and runs the first decoder step.
    ///
    /// - Parameter samples: at least `minSamples` samples in -1...1 at 16 kHz.
    func encode(_ samples: [Float]) throws(DeviceError) -> State {
        let count = samples.count
        let values = try OnnxTensor([1, count], of: runtime) {
            (memory: UnsafeMutableBufferPointer<Float>) in _ = memory.update(fromContentsOf: samples)
        }
        let mask = try OnnxTensor([1, count], of: runtime) {
            (memory: UnsafeMutableBufferPointer<Int64>) in memory.update(repeating: 1)
        }
        let encoded = try encoder.run(
            [values, mask], inputNames: encoderNames.inputs, outputNames: encoderNames.outputs)
        guard let hidden = encoded.first else { throw Self.missingOutput }
        let empty = try OnnxTensor([1, shape.heads, 1, shape.size], of: runtime) {
            (memory: UnsafeMutableBufferPointer<Float>) in memory.update(repeating: 0)
        }
        let emptyState = [OnnxTensor](repeating: empty, count: shape.past.decoder.count + shape.past.encoder.count)
        let outputs = try decoder.run(
            [try tokenTensor([Tokenizer.start]), hidden, mask, try flagTensor(false)] + emptyState,
            inputNames: inputNames, outputNames: outputNames.firstStep)
        guard outputs.count == 1 + emptyState.count else { throw Self.missingOutput }
        let width = try outputs[0].shape().last ?? 0
        guard width > Tokenizer.end else {
            throw DeviceError(.damaged, "Run", "the decoder has only \(width) tokens", remedy: "reinstall the model")
        }
        return State(
            hidden: hidden, mask: mask, encoderState: Array(outputs[(1 + shape.past.decoder.count)...]),
            decoderState: Array(outputs[1...shape.past.decoder.count]), logits: outputs[0])
    }

    /// Replaces the hypotheses: the new hypothesis `i` is the old hypothesis `rows[i]` followed by `tokens[i]`.
    func advance(_ state: inout State, by tokens: [Int], extending rows: [Int]) throws(DeviceError) {
        if rows != Array(0..<state.rows) {
            state.decoderState = try state.decoderState.map { tensor throws(DeviceError) in
                try gather(tensor, rows)
            }
        }
        let outputs = try decoder.run(
            [try tokenTensor(tokens), state.hidden, state.mask, try flagTensor(true)] + state.decoderState
                + state.encoderState,
            inputNames: inputNames, outputNames: outputNames.laterSteps)
        guard outputs.count == 1 + shape.past.decoder.count else { throw Self.missingOutput }
        state.logits = outputs[0]
        state.decoderState = Array(outputs[1...])
        state.rows = tokens.count
    }

    func withLogits<Value>(
        of row: Int, _ state: State, _ body: (UnsafeBufferPointer<Float>) -> Value
    ) throws(DeviceError) -> Value {
        let width = try state.logits.shape().last ?? 0
        return try state.logits.withElements((row + 1) * width) { (elements: UnsafeMutableBufferPointer<Float>) in
            body(UnsafeBufferPointer(rebasing: elements[(row * width)...]))
        }
    }

    private func gather(_ tensor: OnnxTensor, _ rows: [Int]) throws(DeviceError) -> OnnxTensor {
        let shape = try tensor.shape()
        let rowSize = shape.dropFirst().reduce(1, *)
        return try tensor.withElements(((rows.max() ?? 0) + 1) * rowSize) { (old: UnsafeMutableBufferPointer<Float>) in
            Result { () throws(DeviceError) in
                try OnnxTensor([rows.count] + shape.dropFirst(), of: runtime) {
                    (new: UnsafeMutableBufferPointer<Float>) in
                    for (target, source) in rows.enumerated() {
                        _ = new[(target * rowSize)..<((target + 1) * rowSize)].update(
                            fromContentsOf: old[(source * rowSize)..<((source + 1) * rowSize)])
                    }
                }
            }
        }.get()
    }

    private func tokenTensor(_ tokens: [Int]) throws(DeviceError) -> OnnxTensor {
        try OnnxTensor([tokens.count, 1], of: runtime) {
            (memory: UnsafeMutableBufferPointer<Int64>) in
            for (index, token) in tokens.enumerated() { memory[index] = Int64(token) }
        }
    }

    private func flagTensor(_ value: Bool) throws(DeviceError) -> OnnxTensor {
        try OnnxTensor([1], of: runtime) {
            (memory: UnsafeMutableBufferPointer<Bool>) in memory[0] = value
        }
    }

    private static let missingOutput = DeviceError(
        .failed, "Run", "ONNX Runtime returned fewer outputs than requested",
        remedy: "the utterance will be decoded again")
}
