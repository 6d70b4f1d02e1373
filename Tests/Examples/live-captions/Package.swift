// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "live-captions",
    dependencies: [.package(name: "fieldscribe", path: "../../..")],
    targets: [
        .executableTarget(
            name: "live-captions", dependencies: [.product(name: "Speech", package: "fieldscribe")], path: "Sources")
    ]
)
