internal import COnnxRuntime
import Core

final class OnnxTensor {
    // Safety: owned by this object, released once in deinit.
    let pointer: OpaquePointer
    private let runtime: OnnxRuntime

    init(adopting pointer: OpaquePointer, of runtime: OnnxRuntime) {
        self.pointer = pointer
        self.runtime = runtime
    }

    /// Creates a tensor; `fill` initializes its memory.
    ///
    /// - Parameter type: `fieldscribe_ort_float` or another type of the size of `Element`.
    convenience init<Element>(
        _ shape: [Int], type: Int, of runtime: OnnxRuntime, fill: (UnsafeMutableBufferPointer<Element>) -> Void
    ) throws(DeviceError) {
        var allocator: OpaquePointer?
        try runtime.check("GetAllocatorWithDefaultOptions", on: "a tensor") {
            $0.GetAllocatorWithDefaultOptions?(&allocator)
        }
        let dimensions = shape.map { Int64($0) }
        var made: OpaquePointer?
        try runtime.check("CreateTensorAsOrtValue", on: "a tensor of \(shape)") {
            $0.CreateTensorAsOrtValue?(allocator, dimensions, dimensions.count, Int32(type), &made)
        }
        guard let made else { throw Self.absent }
        self.init(adopting: made, of: runtime)
        try withElements(shape.reduce(1, *), of: Element.self, fill)
    }

    deinit { runtime.api.pointee.ReleaseValue?(pointer) }

    private static let absent = DeviceError(
        .failed, "CreateTensorAsOrtValue", "ONNX Runtime returned no tensor", remedy: "the utterance is tried again")

    func shape() throws(DeviceError) -> [Int] {
        var information: OpaquePointer?
        try runtime.check("GetTensorTypeAndShape", on: "a tensor") { $0.GetTensorTypeAndShape?(pointer, &information) }
        defer { runtime.api.pointee.ReleaseTensorTypeAndShapeInfo?(information) }
        var count = 0
        try runtime.check("GetDimensionsCount", on: "a tensor") { $0.GetDimensionsCount?(information, &count) }
        var dimensions = [Int64](repeating: 0, count: count)
        try runtime.check("GetDimensions", on: "a tensor") { $0.GetDimensions?(information, &dimensions, count) }
        return dimensions.map { Int($0) }
    }

    /// Passes the first `count` elements, which must exist, to a closure.
    func withElements<Element, Value>(
        _ count: Int, of: Element.Type = Element.self, _ body: (UnsafeMutableBufferPointer<Element>) -> Value
    ) throws(DeviceError) -> Value {
        var data: UnsafeMutableRawPointer?
        try runtime.check("GetTensorMutableData", on: "a tensor") { $0.GetTensorMutableData?(pointer, &data) }
        // Safety: the memory belongs to the tensor, has this type, and is valid while `self` is.
        return withExtendedLifetime(self) {
            body(
                UnsafeMutableBufferPointer(
                    start: data?.assumingMemoryBound(to: Element.self), count: data == nil ? 0 : count))
        }
    }
}
