import FoundationEssentials
import Glibc
import Testing
import TestKit

@testable import Core
@testable import Recognition
@testable import System

/// The model installed by `deploy/model moonshine-tiny-en --folder`; nil, with a printed message, if
/// FIELDSCRIBE_TEST_MODEL is not set.
let realModel: MoonshineModel? = {
    guard let path = getenv("FIELDSCRIBE_TEST_MODEL").map({ String(cString: $0) }), !path.isEmpty else {
        print("skipped: tests with Moonshine's real model; set FIELDSCRIBE_TEST_MODEL to its folder")
        return nil
    }
    return MoonshineModel(path: path)
}()

@Suite("A model folder")
struct MoonshineModelTests {
    private let folder = TemporaryFolder()

    private func make(_ names: [String], digests: String? = nil) throws -> MoonshineModel {
        for name in names { try Data(name.utf8).write(to: URL(filePath: folder.file(name))) }
        if let digests { try Data(digests.utf8).write(to: URL(filePath: folder.file("SHA256SUMS"))) }
        return MoonshineModel(path: folder.path + "/")
    }

    private static let files = ["encoder_model.ort", "decoder_model_merged.ort", "tokenizer.bin"]

    @Test("the error for a missing file names it, with a remedy", arguments: files)
    func missingFile(name: String) throws {
        let model = try make(Self.files.filter { $0 != name })
        let error = thrown { try model.check() }
        #expect(error?.code == .missing && error?.exitStatus == 3)
        #expect(error?.message.hasPrefix("\(folder.path)/\(name):") == true)
        #expect(error?.message.contains("fieldscribe-moonshine-tiny-en") == true)
        #expect(model.exists)
    }

    @Test("a folder with a different model does not count")
    func differentModel() throws { #expect(try !make(["mdef", "tokenizer.bin"]).exists) }

    @Test("digests are checked, and the error names the changed file; nothing is checked if there are no digests")
    func digests() throws {
        let good = Self.files.map { "\(Digest.of($0))  \($0)\n" }.joined()
        try make(Self.files, digests: good).verify()
        let bad = Self.files.map { "\(Digest.of($0 == Self.files[1] ? "x" : $0)) *\($0)\n" }.joined()
        let error = thrown { try make(Self.files, digests: bad).verify() }
        #expect(error?.code == .damaged && error?.message.hasPrefix("\(folder.path)/\(Self.files[1]):") == true)
        unlink(folder.file("SHA256SUMS"))
        try MoonshineModel(path: folder.path).verify()
    }

    // Not inline, because Swift 6.0.3 cannot parse it among the arguments.
    private static let badLists = ["hello\n", String(repeating: "0", count: 64) + "  ../x\n"]

    @Test("an invalid list of digests counts as damaged", arguments: badLists)
    func badDigests(text: String) throws {
        #expect(thrown { try make(Self.files, digests: text).verify() }?.code == .damaged)
    }

    @Test("a library that is not ONNX Runtime is reported, and so is a missing library")
    func invalidRuntime() throws {
        let model = try make(Self.files + ["libonnxruntime.so.1"])
        _ = try tokenizer(["▁a"], in: folder)
        #expect(thrown { _ = try OnnxRuntime([model.path + "/libonnxruntime.so.1"]) }?.code == .unsupported)
        #expect(thrown { _ = try OnnxRuntime([]) }?.code == .missing)
    }

    @Test("the real model passes its checks, and has a license and a size")
    func real() throws {
        guard let realModel else { return }
        try realModel.verify()
        try realModel.checkRuntime()
        #expect(realModel.licence == "MIT" && realModel.bytes > 40_000_000 && realModel.files.count >= 5)
    }
}
