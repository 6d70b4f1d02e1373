internal import COnnxRuntime
import Core

/// The element type and shape of a tensor, or of an input or output that a model declares.
struct OnnxTensorInfo: Hashable {
    /// The name of an input or output; empty for a tensor.
    var name = ""
    /// The library's code for the element type; 0 if this is not a tensor.
    var type: Int
    /// The dimensions; a dynamic dimension is negative.
    var shape: [Int]
}

extension OnnxTensorInfo {
    /// - Parameter tensor: the library's description of a tensor; nil for any other value.
    init(name: String = "", tensor: OpaquePointer?, of runtime: OnnxRuntime) throws(DeviceError) {
        guard let tensor else {
            self.init(name: name, type: 0, shape: [])
            return
        }
        let subject = name.isEmpty ? "a tensor" : name
        var type: Int32 = 0
        try runtime.check("GetTensorElementType", on: subject) { $0.GetTensorElementType?(tensor, &type) }
        var count = 0
        try runtime.check("GetDimensionsCount", on: subject) { $0.GetDimensionsCount?(tensor, &count) }
        var shape = [Int64](repeating: 0, count: count)
        try runtime.check("GetDimensions", on: subject) { $0.GetDimensions?(tensor, &shape, count) }
        self.init(name: name, type: Int(type), shape: shape.map { Int($0) })
    }
}

protocol OnnxElement {
    /// The library's code for the type.
    static var onnxType: Int { get }
}

extension Float: OnnxElement { static var onnxType: Int { fieldscribe_ort_float } }
extension Int64: OnnxElement { static var onnxType: Int { fieldscribe_ort_int64 } }
extension Bool: OnnxElement { static var onnxType: Int { fieldscribe_ort_bool } }
