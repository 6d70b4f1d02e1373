import Core

/// Moonshine's two networks: an encoder for audio and a decoder that generates tokens.
///
/// Shapes by input name, for b hypotheses, n samples and T frames of 24 ms: `input_values` f32 [1, n] of 16 kHz in
/// -1...1; `last_hidden_state` f32 [1, T, h]; the decoder's `encoder_attention_mask` i64 [1, n] (samples, not frames);
/// `past_key_values.LAYER.{decoder,encoder}.{key,value}` f32 [b or 1, heads, *, size]; `logits` f32 [b, 1, tokens].
final class MoonshineNetwork {
    static let minSamples = 895

    let tokenizer: Tokenizer
    let runtime: OnnxRuntime
    private let encoder: OnnxSession
    private let decoder: OnnxSession
    private let form: MoonshineForm
    private let names: CStrings
    private let wanted: (first: CStrings, further: CStrings)
    private let encoderNames = (
        inputs: CStrings(["input_values", "attention_mask"]), outputs: CStrings(["last_hidden_state"])
    )

    /// - Throws: `DeviceError` with `missing` for the runtime or a file, `damaged` or `unsupported` for an invalid
    ///   file.
    init(_ model: MoonshineModel, prepacks: Bool) throws(DeviceError) {
        runtime = try OnnxRuntime(OnnxRuntime.candidates(besides: model.path))
        tokenizer = try Tokenizer(path: model.tokenizer)
        encoder = try OnnxSession(model.encoder, of: runtime, prepacks: prepacks)
        decoder = try OnnxSession(model.decoder, of: runtime, prepacks: prepacks)
        form = try MoonshineForm(
            encoder: (encoder.inputs, encoder.outputs), decoder: (decoder.inputs, decoder.outputs),
            tokens: tokenizer.count, path: model.decoder)
        let own = ["input_ids", "encoder_hidden_states", "encoder_attention_mask", "use_cache_branch"]
        names = CStrings(own + form.past.decoder + form.past.encoder)
        let further = ["logits"] + MoonshineForm.present(form.past.decoder)
        wanted = (CStrings(further + MoonshineForm.present(form.past.encoder)), CStrings(further))
    }

    /// The encoded audio and the decoder's state.
    struct Reading {
        fileprivate let hidden: OnnxTensor
        fileprivate let mask: OnnxTensor
        fileprivate let encoderState: [OnnxTensor]
        fileprivate var decoderState: [OnnxTensor]
        fileprivate var logits: OnnxTensor
        /// The number of hypotheses.
        fileprivate var rows = 1
    }

    /// Encodes audio and makes the first decoder step.
    ///
    /// - Parameter samples: at least `minSamples`, 16 kHz, -1...1.
    func encode(_ samples: [Float]) throws(DeviceError) -> Reading {
        let count = samples.count
        let values = try OnnxTensor([1, count], of: runtime) {
            (memory: UnsafeMutableBufferPointer<Float>) in _ = memory.update(fromContentsOf: samples)
        }
        let mask = try OnnxTensor([1, count], of: runtime) {
            (memory: UnsafeMutableBufferPointer<Int64>) in memory.update(repeating: 1)
        }
        let encoded = try encoder.run([values, mask], names: encoderNames.inputs, wanted: encoderNames.outputs)
        guard let hidden = encoded.first else { throw Self.incomplete }
        let empty = try OnnxTensor([1, form.heads, 1, form.size], of: runtime) {
            (memory: UnsafeMutableBufferPointer<Float>) in memory.update(repeating: 0)
        }
        let pasts = [OnnxTensor](repeating: empty, count: form.past.decoder.count + form.past.encoder.count)
        let outputs = try decoder.run(
            [try ids([Tokenizer.start]), hidden, mask, try flag(false)] + pasts, names: names,
            wanted: wanted.first)
        guard outputs.count == 1 + pasts.count else { throw Self.incomplete }
        let width = try outputs[0].shape().last ?? 0
        guard width > Tokenizer.end else {
            throw DeviceError(.damaged, "Run", "the decoder has only \(width) tokens", remedy: "reinstall the model")
        }
        return Reading(
            hidden: hidden, mask: mask, encoderState: Array(outputs[(1 + form.past.decoder.count)...]),
            decoderState: Array(outputs[1...form.past.decoder.count]), logits: outputs[0])
    }

    /// Replaces the hypotheses: each new one is the hypothesis in the given row, followed by a token.
    func advance(_ reading: inout Reading, by tokens: [Int], behind rows: [Int]) throws(DeviceError) {
        if rows != Array(0..<reading.rows) {
            reading.decoderState = try reading.decoderState.map { state throws(DeviceError) in
                try gather(state, rows)
            }
        }
        let outputs = try decoder.run(
            [try ids(tokens), reading.hidden, reading.mask, try flag(true)] + reading.decoderState
                + reading.encoderState,
            names: names, wanted: wanted.further)
        guard outputs.count == 1 + form.past.decoder.count else { throw Self.incomplete }
        reading.logits = outputs[0]
        reading.decoderState = Array(outputs[1...])
        reading.rows = tokens.count
    }

    func withLogits<Value>(
        of row: Int, _ reading: Reading, _ body: (UnsafeBufferPointer<Float>) -> Value
    ) throws(DeviceError) -> Value {
        let width = try reading.logits.shape().last ?? 0
        return try reading.logits.withElements((row + 1) * width) { (elements: UnsafeMutableBufferPointer<Float>) in
            body(UnsafeBufferPointer(rebasing: elements[(row * width)...]))
        }
    }

    private func gather(_ state: OnnxTensor, _ rows: [Int]) throws(DeviceError) -> OnnxTensor {
        let shape = try state.shape()
        let row = shape.dropFirst().reduce(1, *)
        return try state.withElements(((rows.max() ?? 0) + 1) * row) { (old: UnsafeMutableBufferPointer<Float>) in
            Result { () throws(DeviceError) in
                try OnnxTensor([rows.count] + shape.dropFirst(), of: runtime) {
                    (new: UnsafeMutableBufferPointer<Float>) in
                    for (place, from) in rows.enumerated() {
                        _ = new[(place * row)..<((place + 1) * row)].update(
                            fromContentsOf: old[(from * row)..<((from + 1) * row)])
                    }
                }
            }
        }.get()
    }

    private func ids(_ tokens: [Int]) throws(DeviceError) -> OnnxTensor {
        try OnnxTensor([tokens.count, 1], of: runtime) {
            (memory: UnsafeMutableBufferPointer<Int64>) in
            for (place, token) in tokens.enumerated() { memory[place] = Int64(token) }
        }
    }

    private func flag(_ value: Bool) throws(DeviceError) -> OnnxTensor {
        try OnnxTensor([1], of: runtime) {
            (memory: UnsafeMutableBufferPointer<Bool>) in memory[0] = value
        }
    }

    private static let incomplete = DeviceError(
        .failed, "Run", "ONNX Runtime returned fewer outputs than requested", remedy: "the utterance is tried again")
}
