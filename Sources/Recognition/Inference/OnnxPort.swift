internal import COnnxRuntime
import Core

/// The type and shape of a tensor, or that a network declares for an input or output.
struct OnnxPort: Hashable {
    /// Empty for a tensor.
    var name = ""
    /// The type of its elements, by the library's numbers; 0 if it is not a tensor.
    var type: Int
    /// An open dimension is negative.
    var shape: [Int]

    /// - Parameter tensor: the library's description; nil for what is not a tensor.
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

    init(name: String, type: Int, shape: [Int]) { (self.name, self.type, self.shape) = (name, type, shape) }

    /// Whether its elements are of a type.
    func holds(_ element: (some OnnxElement).Type) -> Bool { type == element.onnxType }
}

/// A type of tensors' elements.
protocol OnnxElement {
    /// The library's number.
    static var onnxType: Int { get }
}

extension Float: OnnxElement { static var onnxType: Int { fieldscribe_ort_float } }
extension Int64: OnnxElement { static var onnxType: Int { fieldscribe_ort_int64 } }
extension Bool: OnnxElement { static var onnxType: Int { fieldscribe_ort_bool } }
