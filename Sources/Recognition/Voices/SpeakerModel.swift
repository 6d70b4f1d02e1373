import Core
import System

/// A folder with the voice embedding network, as installed by the package fieldscribe-speakers.
package struct SpeakerModel: Hashable, Sendable {
    /// The name of the packaged model's folder.
    package static let usual = "speakers"

    /// The folder, without a trailing slash.
    package let path: String

    package var network: String { "\(path)/campplus.ort" }

    /// - Parameter path: a folder, with or without a model.
    package init(path: String) { self.path = withoutTrailingSlash(path) }

    /// Checks that the network and a runtime exist, without reading them.
    ///
    /// - Parameter others: more folders in which to look for a runtime.
    /// - Throws: `DeviceError` with `missing` or `denied` for the file.
    package func check(besides others: [String] = []) throws(DeviceError) {
        try checkModelFile(
            network, "speakers cannot be identified: the model", missing: "is missing",
            remedy:
                "install the package fieldscribe-speakers, name its folder with recognizer.speaker-model, or set "
                + "recognizer.speakers = no")
        try OnnxRuntime.check(runtimes(besides: others), besides: path, "speakers cannot be identified: ")
    }

    func runtimes(besides others: [String]) -> [String] {
        let own = OnnxRuntime.candidates(besides: path)
        return own + others.flatMap { OnnxRuntime.candidates(besides: $0) }.filter { !own.contains($0) }
    }
}
