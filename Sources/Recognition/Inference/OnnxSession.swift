internal import COnnxRuntime
import Core
import System

/// A model loaded from a file. The file stays mapped, so that processes that map the same file share its weights.
final class OnnxSession {
    private let runtime: OnnxRuntime
    // Safety: owned by this object, released once in deinit, before the mapped file.
    private let pointer: OpaquePointer
    private let file: MappedFile

    let inputs: [OnnxTensorInfo]
    let outputs: [OnnxTensorInfo]

    /// - Parameter prepacks: whether to keep a second copy of the weights in the layout that suits the processor, which
    ///   halves the time and doubles the memory.
    /// - Throws: `DeviceError` with `missing` or `denied` if the file cannot be read, `damaged` if the library rejects
    ///   it.
    init(_ path: String, of runtime: OnnxRuntime, prepacks: Bool) throws(DeviceError) {
        self.runtime = runtime
        let file = try MappedFile(path)
        self.file = file
        pointer = try RuntimeLog.whileRedirected { () throws(DeviceError) in
            try Self.open(path, file.bytes, runtime, prepacks: prepacks)
        }
        (inputs, outputs) = try Self.inputsAndOutputs(of: pointer, runtime, path)
    }

    deinit { runtime.api.pointee.ReleaseSession?(pointer) }

    private static func open(
        _ path: String, _ bytes: UnsafeRawBufferPointer, _ runtime: OnnxRuntime, prepacks: Bool
    ) throws(DeviceError) -> OpaquePointer {
        var options: OpaquePointer?
        try runtime.check("CreateSessionOptions", on: path) { $0.CreateSessionOptions?(&options) }
        defer { runtime.api.pointee.ReleaseSessionOptions?(options) }
        try runtime.check("SetIntraOpNumThreads", on: path) { $0.SetIntraOpNumThreads?(options, 1) }
        try runtime.check("SetInterOpNumThreads", on: path) { $0.SetInterOpNumThreads?(options, 1) }
        try runtime.check("DisableMemPattern", on: path) { $0.DisableMemPattern?(options) }
        var entries = [
            "session.load_model_format": "ORT", "session.use_ort_model_bytes_directly": "1",
            "session.use_ort_model_bytes_for_initializers": "1", "session.use_env_allocators": "1",
        ]
        if !prepacks { entries["session.disable_prepacking"] = "1" }
        for (key, value) in entries {
            try runtime.check("AddSessionConfigEntry", on: path) { $0.AddSessionConfigEntry?(options, key, value) }
        }
        var session: OpaquePointer?
        try runtime.check("CreateSession", on: path, code: .damaged) {
            $0.CreateSessionFromArray?(runtime.environment, bytes.baseAddress, bytes.count, options, &session)
        }
        guard let session else {
            throw DeviceError(
                .damaged, "CreateSession", on: path, "ONNX Runtime cannot load this model",
                remedy: "reinstall the model"
            )
        }
        return session
    }

    private static func inputsAndOutputs(
        of pointer: OpaquePointer, _ runtime: OnnxRuntime, _ path: String
    ) throws(DeviceError) -> (inputs: [OnnxTensorInfo], outputs: [OnnxTensorInfo]) {
        var allocator: OpaquePointer?
        try runtime.check("GetAllocatorWithDefaultOptions", on: path) { $0.GetAllocatorWithDefaultOptions?(&allocator) }
        func list(areInputs: Bool) throws(DeviceError) -> [OnnxTensorInfo] {
            var count = 0
            try runtime.check("SessionGetInputCount", on: path) {
                areInputs ? $0.SessionGetInputCount?(pointer, &count) : $0.SessionGetOutputCount?(pointer, &count)
            }
            var infos: [OnnxTensorInfo] = []
            for index in 0..<count {
                var text: UnsafeMutablePointer<CChar>?
                try runtime.check("SessionGetInputName", on: path) {
                    areInputs
                        ? $0.SessionGetInputName?(pointer, index, allocator, &text)
                        : $0.SessionGetOutputName?(pointer, index, allocator, &text)
                }
                guard let text else { continue }
                let name = String(cString: text)
                try runtime.check("AllocatorFree", on: path) { $0.AllocatorFree?(allocator, text) }
                var info: OpaquePointer?
                try runtime.check("SessionGetInputTypeInfo", on: path) {
                    areInputs
                        ? $0.SessionGetInputTypeInfo?(pointer, index, &info)
                        : $0.SessionGetOutputTypeInfo?(pointer, index, &info)
                }
                defer { runtime.api.pointee.ReleaseTypeInfo?(info) }
                // The tensor info belongs to the type info and is not released. For a sequence or a map, it is null.
                var tensor: OpaquePointer?
                try runtime.check("CastTypeInfoToTensorInfo", on: path) { $0.CastTypeInfoToTensorInfo?(info, &tensor) }
                infos.append(try OnnxTensorInfo(name: name, tensor: tensor, of: runtime))
            }
            return infos
        }
        return (try list(areInputs: true), try list(areInputs: false))
    }

    /// Runs the model.
    ///
    /// - Parameter tensors: the inputs, in the order of `inputNames`.
    /// - Returns: the outputs, in the order of `outputNames`.
    /// - Throws: `DeviceError` with `failed`.
    func run(_ tensors: [OnnxTensor], inputNames: CStrings, outputNames: CStrings) throws(DeviceError) -> [OnnxTensor] {
        let pointers = tensors.map { Optional($0.pointer) }
        var results = [OpaquePointer?](repeating: nil, count: outputNames.pointers.count)
        // Safety: the tensors and the names outlive the call.
        defer { withExtendedLifetime((tensors, inputNames, outputNames)) {} }
        try runtime.check("Run", on: "an utterance") {
            $0.Run?(
                pointer, nil, inputNames.pointers, pointers, pointers.count, outputNames.pointers, results.count,
                &results)
        }
        return results.compactMap { $0.map { OnnxTensor(adopting: $0, of: runtime) } }
    }
}
