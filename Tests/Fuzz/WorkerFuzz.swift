import Glibc

@testable import Core
@testable import Recognition
@testable import System

/// Fuzzes the input of a decode worker.
@_cdecl("LLVMFuzzerTestOneInput") public func fuzz(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
    guard ftruncate(memoryFile, off_t(size)) == 0, pwrite(memoryFile, data, size, 0) == size else { return 0 }
    var worker = DecodeWorker(
        input: FileDescriptor(adopting: open("/proc/self/fd/\(memoryFile)", O_RDONLY), named: "frames"),
        output: FileDescriptor(adopting: open("/dev/null", O_WRONLY), named: "replies"))
    try? worker.serve(SilentRecognizer.Provider())
    return 0
}

/// A recognizer that reads every sample, but recognizes nothing.
private final class SilentRecognizer: Adaptation, PartialRecognizer {
    struct Provider: RecognizerProvider {
        func open() throws(DeviceError) -> any Recognizer { SilentRecognizer() }
    }

    let engine = EngineDescription(name: "silent", version: "1", model: "none")

    private var sum = 0

    func recognize(
        _ samples: UnsafeBufferPointer<Int16>, options: RecognitionOptions
    ) throws(DeviceError) -> Hypothesis {
        try recognize(samples, from: nil, alternatives: options.alternatives) { _ throws(DeviceError) in }
    }

    func begin(from state: AdaptationState?) throws(DeviceError) { sum = 0 }

    func append(_ samples: UnsafeBufferPointer<Int16>) throws(DeviceError) {
        sum = samples.reduce(sum) { $0 &+ Int($1) }
    }

    func search() throws(DeviceError) -> Bool { false }

    func close() throws(DeviceError) -> AdaptationState? {
        AdaptationState(.object(["sum": .number(Double(sum))]))
    }

    func survey(
        _ samples: UnsafeBufferPointer<Int16>, into state: AdaptationState?
    ) throws(DeviceError) -> AdaptationState? {
        state
    }

    func finish(alternatives: Int) throws(DeviceError) -> Hypothesis { Hypothesis() }

    func beginPartials(from state: AdaptationState?) throws(DeviceError) {}

    func partial(after samples: UnsafeBufferPointer<Int16>) throws(DeviceError) -> String { "\(samples.count)" }

    func endPartials() throws(DeviceError) {}
}

/// The descriptor of an unnamed file on a tmpfs.
private let memoryFile = {
    var template = Array("/dev/shm/fieldscribe-fuzz-XXXXXX".utf8CString)
    let descriptor = mkstemp(&template)
    unlink(template)
    return descriptor
}()
