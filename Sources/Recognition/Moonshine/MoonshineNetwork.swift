internal import COnnxRuntime
import Core

/// Moonshine's two networks: an encoder for audio and a decoder that generates tokens.
///
/// Shapes by input name, for b hypotheses, n samples and T frames of 24 ms: `input_values` f32 [1, n] of 16 kHz in
/// -1...1; `last_hidden_state` f32 [1, T, h]; the decoder's `encoder_attention_mask` i64 [1, n] (samples, not frames);
/// `past_key_values.LAYER.{decoder,encoder}.{key,value}` f32 [b or 1, heads, *, size]; `logits` f32 [b, 1, tokens].
final class MoonshineNetwork {
    /// The encoder's minimum input.
    static let minSamples = 895

    let tokenizer: Tokenizer
    let runtime: OnnxRuntime
    private let encoder: OnnxSession
    private let decoder: OnnxSession
    /// The names of the decoder's state, which is passed from one token to the next, as inputs and outputs.
    private let past: (decoder: [String], encoder: [String])
    private let heads: Int
    private let size: Int
    private let names: CStrings
    private let wanted: (first: CStrings, further: CStrings)
    private let encoderNames = (
        inputs: CStrings(["input_values", "attention_mask"]), outputs: CStrings(["last_hidden_state"])
    )

    /// - Throws: `DeviceError` with `missing` for the runtime or a file, `damaged` or `unsupported` for an invalid file.
    init(_ model: MoonshineModel, prepacks: Bool) throws(DeviceError) {
        runtime = try OnnxRuntime(OnnxRuntime.candidates(besides: model.path))
        tokenizer = try Tokenizer(path: model.tokenizer)
        encoder = try OnnxSession(model.encoder, of: runtime, prepacks: prepacks)
        decoder = try OnnxSession(model.decoder, of: runtime, prepacks: prepacks)
        let inputs = decoder.inputs
        let past = (
            decoder: inputs.filter { $0.hasPrefix("past_key_values.") && $0.contains(".decoder.") },
            encoder: inputs.filter { $0.hasPrefix("past_key_values.") && $0.contains(".encoder.") }
        )
        self.past = past
        let own = ["input_ids", "encoder_hidden_states", "encoder_attention_mask", "use_cache_branch"]
        let encoderInputs = encoder.inputs
        let lackingOfEncoder = ["input_values", "attention_mask"].filter { !encoderInputs.contains($0) }
        let lacking =
            own.filter { !inputs.contains($0) } + lackingOfEncoder
            + (decoder.outputs.contains("logits") ? [] : ["logits"])
            + (past.decoder.isEmpty || past.encoder.isEmpty ? ["past_key_values"] : [])
        guard lacking.isEmpty else {
            throw DeviceError(
                .unsupported, "CreateSession", on: "\(model.decoder)",
                "not a network of this form: it lacks \(lacking.joined(separator: ", "))",
                remedy: "use a non-streaming Moonshine model with encoder_model.ort and decoder_model_merged.ort")
        }
        let shape = try decoder.shape(ofInput: past.decoder.first ?? "")
        guard shape.count == 4, shape[1] > 0, shape[3] > 0 else {
            throw DeviceError(
                .unsupported, "SessionGetInputTypeInfo", on: "\(model.decoder)",
                "its state has the shape \(shape), not [b, heads, *, size]", remedy: "use another model")
        }
        (heads, size) = (shape[1], shape[3])
        let present = { (names: [String]) in
            names.map { "present." + $0.dropFirst("past_key_values.".count) }
        }
        names = CStrings(own + past.decoder + past.encoder)
        wanted = (
            CStrings(["logits"] + present(past.decoder) + present(past.encoder)),
            CStrings(["logits"] + present(past.decoder))
        )
    }

    /// The encoded audio and the decoder's state.
    final class Reading {
        fileprivate let hidden: OnnxTensor
        fileprivate let mask: OnnxTensor
        fileprivate var encoderState: [OnnxTensor] = []
        fileprivate var decoderState: [OnnxTensor] = []
        fileprivate(set) var logits: OnnxTensor
        /// The number of hypotheses.
        fileprivate(set) var rows = 1
        /// `logits` and `decoderState` after the first step.
        fileprivate var beginning: (logits: OnnxTensor, decoderState: [OnnxTensor])?

        /// Returns to the state after `encode`.
        func restart() {
            guard let beginning else { return }
            (logits, decoderState, rows) = (beginning.logits, beginning.decoderState, 1)
        }

        fileprivate init(hidden: OnnxTensor, mask: OnnxTensor) {
            (self.hidden, self.mask, logits) = (hidden, mask, hidden)
        }
    }

    /// Encodes audio and makes the first decoder step.
    ///
    /// - Parameter samples: at least `minSamples`, 16 kHz, -1...1.
    func encode(_ samples: [Float]) throws(DeviceError) -> Reading {
        let count = samples.count
        let values = try OnnxTensor([1, count], type: fieldscribe_ort_float, of: runtime) {
            (memory: UnsafeMutableBufferPointer<Float>) in _ = memory.update(fromContentsOf: samples)
        }
        let mask = try OnnxTensor([1, count], type: fieldscribe_ort_int64, of: runtime) {
            (memory: UnsafeMutableBufferPointer<Int64>) in memory.update(repeating: 1)
        }
        let encoded = try encoder.run([values, mask], names: encoderNames.inputs, wanted: encoderNames.outputs)
        guard let hidden = encoded.first else { throw Self.incomplete }
        let reading = Reading(hidden: hidden, mask: mask)
        let empty = try OnnxTensor([1, heads, 1, size], type: fieldscribe_ort_float, of: runtime) {
            (memory: UnsafeMutableBufferPointer<Float>) in memory.update(repeating: 0)
        }
        let pasts = [OnnxTensor](repeating: empty, count: past.decoder.count + past.encoder.count)
        let outputs = try decoder.run(
            [try ids([Tokenizer.start]), hidden, mask, try flag(false)] + pasts, names: names,
            wanted: wanted.first)
        guard outputs.count == 1 + pasts.count else { throw Self.incomplete }
        let width = try outputs[0].shape().last ?? 0
        guard width > Tokenizer.end else {
            throw DeviceError(.damaged, "Run", "the decoder has only \(width) tokens", remedy: "reinstall the model")
        }
        reading.logits = outputs[0]
        reading.decoderState = Array(outputs[1...past.decoder.count])
        reading.encoderState = Array(outputs[(1 + past.decoder.count)...])
        reading.beginning = (reading.logits, reading.decoderState)
        return reading
    }

    /// Appends a token to each hypothesis, which continues the given row.
    func advance(_ reading: Reading, by tokens: [Int], behind rows: [Int]) throws(DeviceError) {
        if rows != Array(0..<reading.rows) {
            var gathered: [OnnxTensor] = []
            for state in reading.decoderState { gathered.append(try gather(state, rows)) }
            reading.decoderState = gathered
        }
        let outputs = try decoder.run(
            [try ids(tokens), reading.hidden, reading.mask, try flag(true)] + reading.decoderState
                + reading.encoderState,
            names: names, wanted: wanted.further)
        guard outputs.count == 1 + past.decoder.count else { throw Self.incomplete }
        reading.logits = outputs[0]
        reading.decoderState = Array(outputs[1...])
        reading.rows = tokens.count
    }

    func withLogits<Value>(
        of row: Int, _ reading: Reading, _ body: (UnsafeBufferPointer<Float>) -> Value
    ) throws(DeviceError) -> Value {
        let width = try reading.logits.shape().last ?? 0
        return try reading.logits.withElements((row + 1) * width) { (elements: UnsafeMutableBufferPointer<Float>) in
            body(UnsafeBufferPointer(rebasing: elements[(row * width)..<min(elements.count, (row + 1) * width)]))
        }
    }

    private func gather(_ state: OnnxTensor, _ rows: [Int]) throws(DeviceError) -> OnnxTensor {
        let shape = try state.shape()
        let row = shape.dropFirst().reduce(1, *)
        return try state.withElements(shape.reduce(1, *)) { (old: UnsafeMutableBufferPointer<Float>) in
            Result { () throws(DeviceError) in
                try OnnxTensor([rows.count] + shape.dropFirst(), type: fieldscribe_ort_float, of: runtime) {
                    (new: UnsafeMutableBufferPointer<Float>) in
                    for (place, from) in rows.enumerated() where (from + 1) * row <= old.count {
                        _ = new[(place * row)..<((place + 1) * row)].update(
                            fromContentsOf: old[(from * row)..<((from + 1) * row)])
                    }
                }
            }
        }.get()
    }

    private func ids(_ tokens: [Int]) throws(DeviceError) -> OnnxTensor {
        try OnnxTensor([tokens.count, 1], type: fieldscribe_ort_int64, of: runtime) {
            (memory: UnsafeMutableBufferPointer<Int64>) in
            for (place, token) in tokens.enumerated() { memory[place] = Int64(token) }
        }
    }

    private func flag(_ value: Bool) throws(DeviceError) -> OnnxTensor {
        try OnnxTensor([1], type: fieldscribe_ort_bool, of: runtime) {
            (memory: UnsafeMutableBufferPointer<Bool>) in memory[0] = value
        }
    }

    private static let incomplete = DeviceError(
        .failed, "Run", "ONNX Runtime returned fewer outputs than requested", remedy: "the utterance is tried again")
}
