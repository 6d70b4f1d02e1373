import Testing
import TestKit

/// `Tests/check-docs`, which `deploy/test` runs over Sources.
@Suite("Docstrings") struct DocstringTests {
    private func check(_ code: String) throws -> Tool {
        let folder = TemporaryFolder()
        try write(code, to: folder.file("Port.swift"))
        return try Tool(Repository.file("Tests/check-docs"), folder.path)
    }

    @Test(
        "a package declaration without a docstring is named by file and line",
        arguments: [
            "/// A port.\npackage protocol Port {\n    func take(_ samples: [Int16])\n}\n",
            "/// A shape.\npackage struct Shape {\n    package func turn() {}\n}\n",
            "/// A shape.\npackage struct Shape {\n    // Not a docstring.\n    package init(length: Int) { print(\"}\") }\n}\n",
            "/// Two.\npackage func two() {}\n\npackage func three() {}\n",
        ])
    func missing(code: String) throws {
        let tool = try check(code)
        #expect(tool.status == 1)
        let line = code.split(separator: "\n", omittingEmptySubsequences: false).lastIndex {
            $0.contains("func take") || $0.contains("func turn") || $0.contains("package init")
                || $0.contains("func three")
        }
        #expect(tool.output.contains("Port.swift:\((line ?? 0) + 1): "))
        #expect(tool.output.contains("1 without a docstring"))
    }

    @Test("what a documented protocol requires, stores in an initializer, is a property or internal needs none")
    func spared() throws {
        let tool = try check(
            """
            /// A port.
            package protocol Port {
                /// Takes samples.
                func take(_ samples: [Int16])
            }

            /// An adapter.
            @MainActor
            package struct Adapter: Port {
                package var count: Int
                var hidden = "package var open: Int {"

                package init(count: Int) { self.count = count }

                package func take(_ samples: [Int16]) {}
            }

            """)
        #expect(tool.output.contains(" 0 without a docstring"))
        #expect(tool.status == 0)
    }

    @Test("a folder without code is an error, not a success")
    func nothing() throws {
        let folder = TemporaryFolder()
        let tool = try Tool(Repository.file("Tests/check-docs"), folder.path)
        #expect(tool.status == 1)
        #expect(tool.errors.contains("no Swift file in \(folder.path)"))
    }
}
