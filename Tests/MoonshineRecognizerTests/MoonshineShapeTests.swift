import FoundationEssentials
import Glibc
import Testing
import TestKit

@testable import Core
@testable import Recognition

@Suite("The shape of a model", .serialized)
struct MoonshineShapeTests {
    private let folder = TemporaryFolder()

    private struct Signature {
        var encoder: (inputs: [OnnxTensorInfo], outputs: [OnnxTensorInfo])
        var decoder: (inputs: [OnnxTensorInfo], outputs: [OnnxTensorInfo])

        init(layers: Int, heads: Int, size: Int) {
            let (float, int, anySize) = (Float.onnxType, Int64.onnxType, -1)
            let names = (0..<layers).flatMap { layer in
                ["decoder.key", "decoder.value", "encoder.key", "encoder.value"].map { "\(layer).\($0)" }
            }
            let state = [anySize, heads, anySize, size]
            encoder = (
                [
                    OnnxTensorInfo(name: "input_values", type: float, shape: [anySize, anySize]),
                    OnnxTensorInfo(name: "attention_mask", type: int, shape: [anySize, anySize]),
                ], [OnnxTensorInfo(name: "last_hidden_state", type: float, shape: [anySize, anySize, heads * size])]
            )
            let inputs =
                [
                    OnnxTensorInfo(name: "encoder_attention_mask", type: int, shape: [anySize, anySize]),
                    OnnxTensorInfo(name: "input_ids", type: int, shape: [anySize, anySize]),
                    OnnxTensorInfo(
                        name: "encoder_hidden_states", type: float, shape: [anySize, anySize, heads * size]),
                    OnnxTensorInfo(name: "use_cache_branch", type: Bool.onnxType, shape: [1]),
                ] + names.map { OnnxTensorInfo(name: "past_key_values.\($0)", type: float, shape: state) }
            let outputs =
                [OnnxTensorInfo(name: "logits", type: float, shape: [anySize, anySize, 32_768])]
                + names.map { OnnxTensorInfo(name: "present.\($0)", type: float, shape: state) }
            decoder = (inputs, outputs)
        }

        func shape(tokens: Int = 32_768) throws(DeviceError) -> MoonshineShape {
            try MoonshineShape(encoder: encoder, decoder: decoder, tokens: tokens, path: "/m/decoder_model_merged.ort")
        }
    }

    @Test("layers, heads and sizes are read from the declared state", arguments: [(6, 8, 36), (8, 8, 52), (1, 1, 1)])
    func sizes(layers: Int, heads: Int, size: Int) throws {
        let shape = try Signature(layers: layers, heads: heads, size: size).shape()
        #expect([shape.heads, shape.size] == [heads, size])
        #expect(shape.past.decoder.count == 2 * layers && shape.past.encoder.count == 2 * layers)
        #expect(MoonshineShape.present(shape.past.encoder).last == "present.\(layers - 1).encoder.value")
    }

    private typealias Change = @Sendable (inout Signature) -> Void
    private static let invalidChanges: [(reason: String, change: Change)] = [
        ("lacks input_values", { $0.encoder.inputs.removeFirst() }),
        ("lacks past_key_values.7.encoder.value", { $0.decoder.inputs.removeLast() }),
        ("lacks present.7.encoder.value", { $0.decoder.outputs.removeLast() }),
        ("lacks past_key_values.0.decoder.key", { $0.decoder.inputs.removeAll { $0.name.hasPrefix("past") } }),
        ("its logits is not float", { $0.decoder.outputs[0].type = 11 }),
        ("its logits is not float", { $0.decoder.outputs[0].type = 0 }),
        ("its state has the shape [-1, -1, -1, 52]", { $0.decoder.inputs[4].shape[1] = -1 }),
        ("its state has the shape [-1, 8, -1, 0]", { $0.decoder.inputs[4].shape[3] = 0 }),
        ("its state has the shape [-1, 8, -1, 9223372036854775807]", { $0.decoder.inputs[4].shape[3] = .max }),
        ("its state has the shape []", { $0.decoder.inputs[4].shape = [] }),
        ("its past_key_values.7.encoder.value has the shape [-1, 8, -1, 36]", { $0.decoder.inputs[35].shape[3] = 36 }),
        ("the encoder's width is 288, but the decoder's is 416", { $0.encoder.outputs[0].shape[2] = 288 }),
        ("it outputs 32000 tokens, but tokenizer.bin has 32768", { $0.decoder.outputs[0].shape[2] = 32_000 }),
    ]

    @Test("the error names the file and the mismatch", arguments: invalidChanges.indices)
    func mismatch(index: Int) throws {
        var signature = Signature(layers: 8, heads: 8, size: 52)
        Self.invalidChanges[index].change(&signature)
        let error = thrown { _ = try signature.shape() }
        #expect(error?.code == .unsupported, "\(String(describing: error))")
        #expect(error?.message.contains(Self.invalidChanges[index].reason) == true, "\(String(describing: error))")
        #expect(error?.message.hasPrefix("/m/decoder_model_merged.ort: ") == true)
    }

    @Test("too many layers are an error; dynamic dimensions are not compared")
    func bounds() throws {
        #expect(thrown { _ = try Signature(layers: 65, heads: 8, size: 52).shape() }?.code == .unsupported)
        var signature = Signature(layers: 8, heads: 8, size: 52)
        signature.encoder.outputs[0].shape[2] = -1
        signature.decoder.outputs[0].shape[2] = -1
        _ = try signature.shape(tokens: 100_000)
    }

    /// Generates a model with random weights that outputs a text in another alphabet for any audio. Returns nil if
    /// there is no `realModel`, whose runtime the generated model uses.
    private func makeModel(_ keys: String...) throws -> MoonshineModel? {
        guard let realModel else { return nil }
        let runtime = "\(realModel.path)/libonnxruntime.so.1"
        let tool = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../lib/moonshine-model").path
        let arguments = [tool, folder.file("generated"), runtime, Self.text] + keys
        #expect(system(arguments.map { "'\($0)'" }.joined(separator: " ")) == 0)
        symlink(runtime, folder.file("generated/libonnxruntime.so.1"))
        return MoonshineModel(path: folder.file("generated"))
    }

    private static let text = "Він не був поганою молодою людиною"

    private func outcome(
        _ model: MoonshineModel, _ profile: MoonshineProfile, phrases: [String] = []
    ) throws -> MoonshineReader.Outcome {
        let reader = try MoonshineReader(model, profile: profile, phrases: phrases)
        let samples = (0..<48_000).map { Int16(truncatingIfNeeded: $0 &* 7_919 % 20_011 - 10_000) }
        return try samples.withUnsafeBufferPointer { try reader.read($0, alternatives: 3, speech: 3) }
    }

    @Test(
        "models with the shapes of tiny and base work with a vocabulary in another alphabet",
        arguments: [["layers=6", "size=36"], ["layers=8", "size=52"]], MoonshineProfile.all)
    func otherSizes(keys: [String], profile: MoonshineProfile) throws {
        guard let model = try makeModel(keys[0], keys[1]) else { return }
        #expect(try outcome(model, profile).words.map(\.text).joined(separator: " ") == Self.text)
    }

    // Not inline, because Swift 6.0.3 cannot compile so many arguments.
    private static let incompatible = [
        ("hidden=416", "the encoder's width is 416, but the decoder's is 288"),
        ("type=double", "its logits is not float"),
        ("omit=present.5.encoder.key", "it lacks present.5.encoder.key"), ("state=size,36", "its state has the shape"),
    ]

    @Test("loading an incompatible model is an error", arguments: incompatible)
    func loadingIncompatible(key: String, reason: String) throws {
        guard let model = try makeModel(key, "layers=\(key.hasPrefix("state") ? 1 : 6)") else { return }
        let error = thrown { _ = try MoonshineReader(model, profile: .fast) }
        #expect(error?.code == .unsupported && error?.message.contains(reason) == true, "\(String(describing: error))")
    }

    @Test("a network that returns fewer rows than requested is an error")
    func rows() throws {
        guard let model = try makeModel("rows=1") else { return }
        #expect(try outcome(model, .fast).words.count == 6)
        #expect(thrown { _ = try outcome(model, .live, phrases: ["Ліс"]) }?.code == .damaged)
    }
}
