// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "transcribe-file",
    dependencies: [.package(name: "fieldscribe", path: "../../..")],
    targets: [
        .executableTarget(
            name: "transcribe-file", dependencies: [.product(name: "Speech", package: "fieldscribe")], path: "Sources")
    ]
)
