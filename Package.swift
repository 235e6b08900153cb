// swift-tools-version: 6.3
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

/// For code written for Apple's framework, which has no reason to spell an import's access level.
let strictForApps: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("MemberImportVisibility"),
]
let strict = strictForApps + [.enableUpcomingFeature("InternalImportsByDefault")]

let package = Package(
    name: "tidebell",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "CloudKit", targets: ["CloudKit"]),
        // A product of its own: wherever a module of this name is in sight, other packages take it for Apple's.
        .library(name: "CoreLocation", targets: ["CoreLocation"]),
        .library(name: "TidebellTesting", targets: ["TidebellTesting"]),
        .executable(name: "tidebell", targets: ["tidebell"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        // Floor 0: the vocabulary client and server share; time, chance, locks and waits.
        .target(name: "TidebellWire", swiftSettings: strict),
        .target(name: "TidebellScheduling", swiftSettings: strict),
        // Floor 1: the rules, without clock, randomness or I/O.
        .target(
            name: "TidebellCore",
            dependencies: [
                "TidebellWire", "TidebellScheduling",
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            exclude: ["DESIGN.md", "Store/WRITING-A-STORE.md"], swiftSettings: strict
        ),
        // Floor 2: engines below the rules, which share their SQL, the pipeline beside them.
        .target(
            name: "TidebellSQL", dependencies: ["TidebellCore", "TidebellWire"],
            swiftSettings: strict
        ),
        .target(
            name: "TidebellSQLite",
            dependencies: [
                "TidebellCore", "TidebellSQL", "TidebellScheduling", "CTidebellFiles",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ],
            exclude: ["DESIGN.md"],
            swiftSettings: strict
        ),
        .target(name: "CTidebellFiles"),
        .systemLibrary(name: "CTidebellZlib", providers: [.apt(["zlib1g-dev"])]),
        // Floor 1: talking to PostgreSQL, below the engine and without any rule.
        .systemLibrary(
            name: "CTidebellPostgres", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]
        ),
        .target(
            name: "TidebellPostgresClient",
            dependencies: ["CTidebellPostgres", "TidebellScheduling"],
            swiftSettings: strict
        ),
        // Floor 2: the second engine.
        .target(
            name: "TidebellPostgres",
            dependencies: [
                "TidebellCore", "TidebellSQL", "TidebellPostgresClient", "TidebellScheduling",
                "TidebellWire",
            ],
            exclude: ["DESIGN.md"],
            swiftSettings: strict
        ),
        .target(
            name: "TidebellPush",
            dependencies: [
                "TidebellCore", "TidebellScheduling",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            exclude: ["DESIGN.md"],
            swiftSettings: strict
        ),
        // Floor 3: routes out of the server, and the Web Services API.
        .target(
            name: "TidebellAPNs",
            dependencies: [
                "TidebellPush", "TidebellScheduling",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            exclude: ["DESIGN.md"],
            swiftSettings: strict
        ),
        .target(
            name: "TidebellWebhooks",
            dependencies: [
                "TidebellPush", "TidebellScheduling",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            exclude: ["DESIGN.md"],
            swiftSettings: strict
        ),
        .target(
            name: "TidebellHTTP",
            dependencies: [
                "TidebellCore", "TidebellPush", "TidebellScheduling", "CTidebellZlib",
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            exclude: ["DESIGN.md"],
            resources: [
                .embedInCode("Resources/tidebell.js"), .embedInCode("Resources/reference.md"),
            ],
            swiftSettings: strict
        ),
        // Floor 3: which engines there are.
        .target(
            name: "TidebellEngines", dependencies: ["TidebellCore", "TidebellSQLite"],
            swiftSettings: strict
        ),
        // Floor 4: the composition root.
        .target(
            name: "TidebellServer",
            dependencies: [
                "TidebellEngines", "TidebellSQLite", "TidebellHTTP", "TidebellPush", "TidebellAPNs",
                "TidebellWebhooks", "TidebellScheduling",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: strict
        ),
        // Floor 5: the command line.
        .executableTarget(
            name: "tidebell",
            dependencies: [
                "TidebellDevice", "TidebellPostgres", "TidebellSQL", "TidebellSQLite",
                "TidebellServer", "TidebellHTTP", "TidebellScheduling",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict
        ),
        // The client SDK.
        .target(name: "TidebellLocation", swiftSettings: strict),
        .target(name: "CoreLocation", dependencies: ["TidebellLocation"], swiftSettings: strict),
        .target(
            name: "CloudKit",
            dependencies: [
                "TidebellWire", "TidebellDevice", "TidebellLocation", "TidebellScheduling",
                "TidebellTransport",
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            exclude: ["DESIGN.md"],
            swiftSettings: strict
        ),
        // A device: what is configured, who is signed in. Links the network and does not import it.
        .target(
            name: "TidebellDevice",
            dependencies: [
                "TidebellWire", "TidebellScheduling", "TidebellTransport", "TidebellNetwork",
                "CTidebellNetwork",
            ],
            swiftSettings: strict
        ),
        // How the client's requests travel.
        .target(
            name: "TidebellTransport", dependencies: ["TidebellScheduling"], swiftSettings: strict
        ),
        .target(name: "CTidebellNetwork"),
        .target(
            name: "TidebellNetwork",
            dependencies: [
                "TidebellTransport", "TidebellScheduling", "CTidebellNetwork",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOFoundationCompat", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ],
            swiftSettings: strict
        ),
        // The test kit.
        .target(
            name: "TidebellTesting",
            dependencies: [
                "CloudKit", "TidebellServer", "TidebellAPNs", "TidebellTestStores",
                "TidebellScheduling",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOHPACK", package: "swift-nio-http2"),
                .product(name: "NIOHTTP2", package: "swift-nio-http2"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "SwiftASN1", package: "swift-asn1"),
                .product(name: "X509", package: "swift-certificates"),
            ],
            exclude: ["DESIGN.md"],
            swiftSettings: strict
        ),
        // Starting the built programs: for the demo, the end-to-end tests and the benchmarks.
        .target(name: "TidebellProcesses", swiftSettings: strict),
        .executableTarget(
            name: "feed-demo", dependencies: ["CloudKit", "TidebellProcesses", "tidebell"],
            path: "Examples/FeedDemo", swiftSettings: strict
        ),
        // The package of the article "Test your CloudKit code in CI".
        .target(
            name: "Notes", dependencies: ["CloudKit"], path: "Examples/Notes/Sources/Notes",
            swiftSettings: strictForApps
        ),
        .testTarget(
            name: "NotesTests", dependencies: ["Notes", "TidebellTesting"],
            path: "Examples/Notes/Tests/NotesTests", exclude: ["notes.json"],
            swiftSettings: strictForApps
        ),
        .executableTarget(
            name: "tidebell-benchmarks",
            dependencies: [
                "CEpoll", "CloudKit", "CountingClients", "PostgresTestServer", "QueueSimulation",
                "TidebellPostgres", "TidebellPostgresClient", "TidebellProcesses", "TidebellPush",
                "TidebellSQLite",
                "TidebellScheduling", "TidebellTesting", "benchmark-device", "tidebell",
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Benchmarks",
            exclude: [
                "README.md", "run", "CEpoll", "CountingClients", "Counts", "Device",
                "QueueSimulation",
            ],
            swiftSettings: strict
        ),
        .target(
            name: "CountingClients", dependencies: ["CloudKit"], path: "Benchmarks/CountingClients",
            swiftSettings: strict
        ),
        .executableTarget(
            name: "benchmark-device", dependencies: ["CloudKit", "CountingClients"],
            path: "Benchmarks/Device", swiftSettings: strict
        ),
        // Waiting for thousands of connections at once, which Swift's Glibc does not have.
        .systemLibrary(name: "CEpoll", path: "Benchmarks/CEpoll"),
        // A thousand nodes that share a queue, on a clock that stands between events.
        .target(
            name: "QueueSimulation",
            dependencies: [
                "TestSupport", "TidebellAPNs", "TidebellCore", "TidebellPostgres", "TidebellPush",
                "TidebellSQL", "TidebellScheduling", "TidebellWebhooks",
            ],
            path: "Benchmarks/QueueSimulation", swiftSettings: strict
        ),
        .testTarget(
            name: "QueueSimulationTests", dependencies: ["QueueSimulation", "TestSupport"],
            swiftSettings: strict
        ),
        // The stores that tests run on, by one setting.
        .target(
            name: "TidebellTestStores",
            dependencies: [
                "TidebellCore", "TidebellEngines", "TidebellScheduling", "TidebellSQL",
                "TidebellSQLite",
            ],
            swiftSettings: strict
        ),
        // What tests of several targets wait with, and take chance from.
        .target(
            name: "TestSupport",
            dependencies: [
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
            ],
            path: "Tests/TestSupport", swiftSettings: strict
        ),
        // The promises of a store, as tests for any engine.
        .target(
            name: "StoreConformance",
            dependencies: ["TidebellCore", "TestSupport"],
            path: "Tests/StoreConformance",
            swiftSettings: strict
        ),
        .testTarget(
            name: "TidebellSchedulingTests",
            dependencies: ["TidebellScheduling", "TestSupport"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "TidebellWireTests",
            dependencies: ["TidebellWire", "TestSupport"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "TidebellCoreTests",
            dependencies: ["TidebellCore", "TidebellTestStores", "TestSupport"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "TidebellSQLiteTests",
            dependencies: [
                "TidebellSQL", "TidebellSQLite", "TidebellTestStores", "StoreConformance",
                "TestSupport",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ],
            swiftSettings: strict
        ),
        // A PostgreSQL of a test process, on a socket of its own.
        .target(
            name: "PostgresTestServer", dependencies: ["TidebellProcesses"],
            path: "Tests/PostgresTestServer", swiftSettings: strict
        ),
        // An S3-compatible server of a test process, on a port of its own.
        .target(
            name: "S3TestServer", dependencies: ["TidebellProcesses"],
            path: "Tests/S3TestServer", exclude: ["requirements.txt", "server.py"],
            swiftSettings: strict
        ),
        // Its databases as the stores that tests run on, by the same setting as the others.
        .target(
            name: "PostgresTestStores",
            dependencies: [
                "TidebellCore", "TidebellPostgres", "TidebellPostgresClient", "TidebellScheduling",
                "TidebellTestStores", "PostgresTestServer",
            ],
            path: "Tests/PostgresTestStores", swiftSettings: strict
        ),
        .target(name: "CPostgresTestStores", path: "Tests/CPostgresTestStores"),
        .testTarget(
            name: "TidebellPostgresClientTests",
            dependencies: [
                "TidebellPostgresClient", "PostgresTestServer", "TidebellScheduling",
                "TestSupport",
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "TidebellPostgresTests",
            dependencies: [
                "TidebellPostgres", "TidebellPostgresClient", "TidebellSQL", "TidebellSQLite",
                "TidebellHTTP", "TidebellPush", "TidebellScheduling", "TidebellServer",
                "TidebellWire", "PostgresTestServer", "PostgresTestStores", "CPostgresTestStores",
                "S3TestServer", "StoreConformance", "TestSupport",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "TidebellPushTests",
            dependencies: ["TidebellPush", "TidebellTestStores", "TestSupport"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "TidebellAPNsTests",
            dependencies: [
                "TidebellAPNs", "TidebellTesting", "TidebellTestStores", "TestSupport",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "TidebellWebhooksTests",
            dependencies: [
                "TidebellWebhooks", "TidebellTesting", "TidebellServer", "TidebellTestStores",
                "TestSupport",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Hummingbird", package: "hummingbird"),
            ],
            swiftSettings: strict
        ),
        // Whole clouds under seeded faults.
        .target(
            name: "Simulation",
            dependencies: [
                "TidebellServer", "TidebellTestStores", "TestSupport",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            path: "Tests/Simulation",
            swiftSettings: strict
        ),
        .testTarget(
            name: "SimulationTests",
            dependencies: ["Simulation", "TestSupport"],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "tidebell-simulate",
            dependencies: [
                "Simulation", "TidebellProcesses",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Tests/Simulate", swiftSettings: strict
        ),
        .testTarget(
            name: "TidebellHTTPTests",
            dependencies: [
                "TidebellHTTP", "TidebellServer", "TidebellTestStores", "S3TestServer",
                "TestSupport",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Metrics", package: "swift-metrics"),
            ],
            exclude: ["Exchanges/Stories"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "CloudKitTests",
            dependencies: ["CloudKit", "CoreLocation", "TidebellDevice", "TestSupport"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "TidebellTestingTests",
            dependencies: ["TidebellTesting", "TestSupport"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "CloudKit", "TidebellTesting", "TidebellServer", "TidebellSQLite",
                "TidebellScheduling", "TidebellProcesses", "PostgresTestServer", "S3TestServer",
                "TestSupport", "tidebell", "feed-demo",
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            swiftSettings: strict
        ),
    ]
)
