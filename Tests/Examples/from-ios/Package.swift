// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "from-ios",
    dependencies: [.package(name: "fieldscribe", path: "../../..")],
    targets: [
        .executableTarget(
            name: "from-ios", dependencies: [.product(name: "Speech", package: "fieldscribe")], path: "Sources")
    ]
)
