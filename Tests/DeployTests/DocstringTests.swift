import Testing
import TestKit

/// Tests for `Tests/check-docs`, with which `deploy/test` checks Sources.
@Suite("Docstrings") struct DocstringTests {
    private func check(_ code: String) throws -> Tool {
        let folder = TemporaryFolder()
        try write(code, to: folder.file("Port.swift"))
        return try Tool(Repository.file("Tests/check-docs"), folder.path)
    }

    @Test(
        "the file and line of a package declaration without a docstring are printed",
        arguments: [
            "/// A port.\npackage protocol Port {\n    func append(_ samples: [Int16])\n}\n",
            "/// A shape.\npackage struct Shape {\n    package func turn() {}\n}\n",
            "/// A shape.\npackage struct Shape {\n    // Not a docstring.\n    package init(length: Int) { print(\"}\") }\n}\n",
            "/// Two.\npackage func two() {}\n\npackage func three() {}\n",
        ])
    func missing(code: String) throws {
        let tool = try check(code)
        #expect(tool.status == 1)
        let line = code.split(separator: "\n", omittingEmptySubsequences: false).lastIndex {
            $0.contains("func append") || $0.contains("func turn") || $0.contains("package init")
                || $0.contains("func three")
        }
        #expect(tool.output.contains("Port.swift:\((line ?? 0) + 1): "))
        #expect(tool.output.contains("1 without a docstring"))
    }

    @Test("implementations of requirements, memberwise initializers, properties and internal code need none")
    func exempt() throws {
        let tool = try check(
            """
            /// A port.
            package protocol Port {
                /// Appends samples.
                func append(_ samples: [Int16])
            }

            /// An adapter.
            @MainActor
            package struct Adapter: Port {
                package var count: Int
                var hidden = "package var open: Int {"

                package init(count: Int) { self.count = count }

                package func append(_ samples: [Int16]) {}
            }

            """)
        #expect(tool.output.contains(" 0 without a docstring"))
        #expect(tool.status == 0)
    }

    @Test("a folder without code is an error")
    func emptyFolder() throws {
        let folder = TemporaryFolder()
        let tool = try Tool(Repository.file("Tests/check-docs"), folder.path)
        #expect(tool.status == 1)
        #expect(tool.errors.contains("no Swift file in \(folder.path)"))
    }
}
