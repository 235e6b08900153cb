// swift-tools-version: 6.3
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

let package = Package(
    name: "Notes",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [.library(name: "Notes", targets: ["Notes"])],
    dependencies: [.package(name: "tidebell", path: "../..")],
    targets: [
        .target(
            name: "Notes",
            dependencies: [
                .product(
                    name: "CloudKit", package: "tidebell",
                    condition: .when(platforms: [.linux]))
            ]
        ),
        .testTarget(
            name: "NotesTests",
            dependencies: [
                "Notes",
                .product(
                    name: "TidebellTesting", package: "tidebell",
                    condition: .when(platforms: [.linux])),
            ],
            exclude: ["notes.json"]
        ),
    ]
)
