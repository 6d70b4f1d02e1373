import Core

/// The dimensions of a model, according to the inputs and outputs that its networks declare.
struct MoonshineShape {
    /// The names of the decoder network's state inputs: those for self-attention (`decoder`), and those for
    /// cross-attention (`encoder`).
    let past: (decoder: [String], encoder: [String])
    /// The number of attention heads per layer.
    let heads: Int
    /// The width of each head.
    let size: Int

    /// For comparison: Moonshine base has 8 layers with 8 heads of width 52.
    private static let (maximumLayers, maximumHeads, maximumSize) = (64, 64, 1_024)
    private static let prefix = "past_key_values."

    /// - Parameters:
    ///   - tokens: the number of tokens in the tokenizer.
    ///   - path: the decoder's file, for the error message.
    /// - Throws: `DeviceError` with `unsupported` that names the input or output that does not match.
    init(
        encoder: (inputs: [OnnxTensorInfo], outputs: [OnnxTensorInfo]),
        decoder: (inputs: [OnnxTensorInfo], outputs: [OnnxTensorInfo]),
        tokens: Int, path: String
    ) throws(DeviceError) {
        func unsupported(_ reason: String) -> DeviceError {
            DeviceError(
                .unsupported, "CreateSession", on: path, "not a supported Moonshine network: \(reason)",
                remedy: "use a non-streaming Moonshine model with encoder_model.ort and decoder_model_merged.ort")
        }
        func keyAndValue(_ layer: Int, _ part: String) -> [String] {
            ["key", "value"].map { "\(layer).\(part).\($0)" }
        }
        let states = decoder.inputs.filter { $0.name.hasPrefix(Self.prefix) }
        let layers = max(1, (states.count + 3) / 4)
        guard layers <= Self.maximumLayers else {
            throw unsupported("it has \(layers) layers; the maximum is \(Self.maximumLayers)")
        }
        let names = ["decoder", "encoder"].map { part in (0..<layers).flatMap { keyAndValue($0, part) } }
        let requirements: [(String, [OnnxTensorInfo], [String])] = [
            ("float", encoder.inputs, ["input_values"]), ("int64", encoder.inputs, ["attention_mask"]),
            ("float", encoder.outputs, ["last_hidden_state"]), ("float", decoder.outputs, ["logits"]),
            ("int64", decoder.inputs, ["input_ids", "encoder_attention_mask"]),
            ("float", decoder.inputs, ["encoder_hidden_states"]), ("bool", decoder.inputs, ["use_cache_branch"]),
            ("float", decoder.inputs, names.joined().map { Self.prefix + $0 }),
            ("float", decoder.outputs, names.joined().map { "present." + $0 }),
        ]
        for (type, tensors, names) in requirements {
            for name in names {
                guard let info = tensors.first(where: { $0.name == name }) else {
                    throw unsupported("it lacks \(name)")
                }
                guard info.type == Self.types[type] else { throw unsupported("its \(name) is not \(type)") }
            }
        }
        let shape = states[0].shape
        guard shape.count == 4, (1...Self.maximumHeads).contains(shape[1]), (1...Self.maximumSize).contains(shape[3])
        else {
            throw unsupported("its state has the shape \(shape), not [b, heads, *, size]")
        }
        (heads, size) = (shape[1], shape[3])
        for state in states where state.shape.count != 4 || state.shape[1] != heads || state.shape[3] != size {
            throw unsupported("its \(state.name) has the shape \(state.shape), but \(states[0].name) has \(shape)")
        }
        let widths = [
            encoder.outputs.first { $0.name == "last_hidden_state" },
            decoder.inputs.first { $0.name == "encoder_hidden_states" },
        ].map { $0?.shape.last ?? -1 }
        // A negative width is dynamic.
        guard widths.contains(where: { $0 < 0 }) || widths[0] == widths[1] else {
            throw unsupported("the encoder's width is \(widths[0]), but the decoder's is \(widths[1])")
        }
        let outputTokens = decoder.outputs.first { $0.name == "logits" }?.shape.last ?? -1
        guard outputTokens < 0 || outputTokens >= tokens else {
            throw unsupported("it outputs \(outputTokens) tokens, but tokenizer.bin has \(tokens)")
        }
        past = (names[0].map { Self.prefix + $0 }, names[1].map { Self.prefix + $0 })
    }

    private static let types = ["float": Float.onnxType, "int64": Int64.onnxType, "bool": Bool.onnxType]

    /// Converts the names of state inputs to the names of the outputs that hold the next state.
    static func present(_ past: [String]) -> [String] { past.map { "present." + $0.dropFirst(prefix.count) } }
}
