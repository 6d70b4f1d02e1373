import Core

/// A network that computes voice embeddings. Embeddings of the same voice are similar.
///
/// The input `features` is f32 [windows, frames, 80], and the output `embedding` is f32 [windows, 192].
package final class VoiceNetwork {
    private static let bins = 80

    private let runtime: OnnxRuntime
    private let session: OnnxSession
    private let names = (inputs: CStrings(["features"]), outputs: CStrings(["embedding"]))

    /// Verifies the digests of the model's files and then loads the network.
    ///
    /// - Parameter others: additional folders in which to look for a runtime.
    /// - Throws: `DeviceError` with `missing`, `denied`, `damaged` or `unsupported` for the file.
    package init(_ model: SpeakerModel, beside others: [String] = []) throws(DeviceError) {
        try model.check(beside: others)
        try ModelDigests.verify(inFolder: model.path)
        runtime = try OnnxRuntime(model.runtimes(beside: others))
        session = try OnnxSession(model.network, of: runtime, prepacks: true)
        guard session.inputs.map(\.name) == ["features"], session.inputs.first?.shape.last == Self.bins,
            session.outputs.map(\.name) == ["embedding"]
        else {
            throw DeviceError(
                .unsupported, "CreateSession", on: model.network, "not a voice embedding network",
                remedy: "create it with deploy/model speakers --folder DIR")
        }
    }

    /// Returns the embedding of one window.
    ///
    /// - Parameter features: 80 values per frame, for 47 to 200 frames.
    /// - Throws: `DeviceError` with `failed`.
    package func voice(_ features: [Float]) throws(DeviceError) -> [Float] {
        let frames = features.count / Self.bins
        let input = try OnnxTensor([1, frames, Self.bins], of: runtime) {
            (elements: UnsafeMutableBufferPointer<Float>) in
            for index in elements.indices { elements[index] = features[index] }
        }
        let outputs = try session.run([input], inputNames: names.inputs, outputNames: names.outputs)
        guard let output = outputs.first else { return [] }
        let count = try output.shape().reduce(1, *)
        return try output.withElements(count, of: Float.self) { Array($0) }
    }
}
