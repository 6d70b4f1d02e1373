import Core
import System

/// A folder that contains the voice embedding network, such as the one that the package fieldscribe-speakers installs.
package struct SpeakerModel: Hashable, Sendable {
    package static let defaultName = "speakers"

    /// The folder, without a trailing slash.
    package let path: String

    package var network: String { "\(path)/campplus.ort" }

    /// - Parameter path: a folder, with or without a model.
    package init(path: String) { self.path = withoutTrailingSlash(path) }

    /// Checks that the network and a runtime exist, without reading them.
    ///
    /// - Parameter others: additional folders in which to look for a runtime.
    /// - Throws: `DeviceError` with `missing` or `denied` for the file.
    package func check(beside others: [String] = []) throws(DeviceError) {
        try checkModelFile(
            network, "speakers cannot be identified: the model", missing: "is missing",
            remedy:
                "install the package fieldscribe-speakers, set recognizer.speaker-model to the model's folder, or set "
                + "recognizer.speakers = no")
        try OnnxRuntime.check(runtimes(beside: others), beside: path, "speakers cannot be identified: ")
    }

    func runtimes(beside others: [String]) -> [String] {
        let ownRuntimes = OnnxRuntime.candidates(beside: path)
        return ownRuntimes + others.flatMap { OnnxRuntime.candidates(beside: $0) }.filter { !ownRuntimes.contains($0) }
    }
}
