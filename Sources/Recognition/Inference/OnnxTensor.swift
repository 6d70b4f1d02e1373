internal import COnnxRuntime
import Core

final class OnnxTensor {
    // Safety: owned by this object, released once in deinit.
    let pointer: OpaquePointer
    private let runtime: OnnxRuntime
    private var cachedInfo: OnnxTensorInfo?

    init(adopting pointer: OpaquePointer, of runtime: OnnxRuntime) {
        self.pointer = pointer
        self.runtime = runtime
    }

    /// Creates a tensor; `fill` initializes its memory.
    convenience init<Element: OnnxElement>(
        _ shape: [Int], of runtime: OnnxRuntime, fill: (UnsafeMutableBufferPointer<Element>) -> Void
    ) throws(DeviceError) {
        var allocator: OpaquePointer?
        try runtime.check("GetAllocatorWithDefaultOptions", on: "a tensor") {
            $0.GetAllocatorWithDefaultOptions?(&allocator)
        }
        let dimensions = shape.map { Int64($0) }
        var tensor: OpaquePointer?
        try runtime.check("CreateTensorAsOrtValue", on: "a tensor of \(shape)") {
            $0.CreateTensorAsOrtValue?(allocator, dimensions, dimensions.count, Int32(Element.onnxType), &tensor)
        }
        guard let tensor else { throw Self.missingTensor }
        self.init(adopting: tensor, of: runtime)
        try withElements(shape.reduce(1, *), of: Element.self, fill)
    }

    deinit { runtime.api.pointee.ReleaseValue?(pointer) }

    private static let missingTensor = DeviceError(
        .failed, "CreateTensorAsOrtValue", "ONNX Runtime returned no tensor",
        remedy: "the utterance will be decoded again")

    func shape() throws(DeviceError) -> [Int] { try info().shape }

    /// Returns the type and shape, which do not change. They are cached, because the decoder reads rows of tensors in
    /// its inner loop.
    private func info() throws(DeviceError) -> OnnxTensorInfo {
        if let cachedInfo { return cachedInfo }
        var description: OpaquePointer?
        try runtime.check("GetTensorTypeAndShape", on: "a tensor") { $0.GetTensorTypeAndShape?(pointer, &description) }
        defer { runtime.api.pointee.ReleaseTensorTypeAndShapeInfo?(description) }
        let info = try OnnxTensorInfo(tensor: description, of: runtime)
        cachedInfo = info
        return info
    }

    /// Passes the first `count` elements to a closure.
    ///
    /// - Throws: `DeviceError` with `damaged` if the tensor has fewer elements or another type. A model may return
    ///   other tensors than it declares.
    func withElements<Element: OnnxElement, Value>(
        _ count: Int, of: Element.Type = Element.self, _ body: (UnsafeMutableBufferPointer<Element>) -> Value
    ) throws(DeviceError) -> Value {
        let info = try info()
        var data: UnsafeMutableRawPointer?
        try runtime.check("GetTensorMutableData", on: "a tensor") { $0.GetTensorMutableData?(pointer, &data) }
        guard let data, info.type == Element.onnxType, count >= 0, count <= info.shape.reduce(1, *) else {
            throw DeviceError(
                .damaged, "Run", "the model returned a tensor with shape \(info.shape) and type \(info.type)",
                remedy: "reinstall the model, or use another one")
        }
        // Safety: the memory belongs to the tensor, has this type, and is valid while `self` is.
        return withExtendedLifetime(self) {
            body(UnsafeMutableBufferPointer(start: data.assumingMemoryBound(to: Element.self), count: count))
        }
    }
}
