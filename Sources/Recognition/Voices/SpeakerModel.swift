import Core

/// A folder with the network that tells voices apart, as the package fieldscribe-speakers installs it.
package struct SpeakerModel: Hashable, Sendable {
    /// The name of its folder among other models.
    package static let usual = "speakers"

    /// The folder, without a slash at its end.
    package let path: String

    /// The network.
    package var network: String { "\(path)/campplus.ort" }

    /// - Parameter path: a folder, whether there is a model in it or not.
    package init(path: String) { self.path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path }

    /// Checks that network and runtime are there, without reading them.
    ///
    /// - Parameter others: folders beside which a runtime is looked for, too.
    /// - Throws: `DeviceError` with `missing` or `denied`, naming the file.
    package func check(besides others: [String] = []) throws(DeviceError) {
        try checkModelFile(
            network, "who spoke cannot be told: the model for it", missing: "is not there",
            remedy:
                "install the package fieldscribe-speakers, name its folder with recognizer.speaker-model, or set "
                + "recognizer.speakers = no")
        try OnnxRuntime.check(runtimes(besides: others), besides: path, "who spoke cannot be told: ")
    }

    func runtimes(besides others: [String]) -> [String] {
        let own = OnnxRuntime.candidates(besides: path)
        return own + others.flatMap { OnnxRuntime.candidates(besides: $0) }.filter { !own.contains($0) }
    }
}
