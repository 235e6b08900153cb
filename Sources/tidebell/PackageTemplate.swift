// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellCore
import TidebellHTTP

/// The files of the package that `tidebell init` makes.
struct PackageTemplate {
    /// Names that modules of the package's own graph have.
    static let takenNames: Set<String> = [
        "CloudKit", "CoreLocation", "Foundation", "Swift", "Testing",
    ]

    /// Where the package of Tidebell is.
    struct Source {
        /// The line of the dependency.
        let line: String
        /// The package's name in the lines of its products.
        let package: String

        /// Takes the URL of a repository, or a folder that holds the package.
        init(_ text: String) throws {
            if text.contains("://") || text.hasPrefix("git@") {
                var last = text.split(separator: "/").last.map(String.init) ?? text
                if last.hasSuffix(".git") { last.removeLast(4) }
                line = ".package(url: \"\(text)\", from: \"\(Version.text)\")"
                package = last
                return
            }
            let folder = URL(fileURLWithPath: text, isDirectory: true).standardizedFileURL
            guard FileManager.default.fileExists(atPath: folder.path + "/Package.swift") else {
                throw OperatorError("There is no package in \(folder.path): no Package.swift.")
            }
            // By its folder, as Swift's package manager knows it: by another name, module aliases are lost.
            line = ".package(path: \"\(folder.path)\")"
            package = folder.lastPathComponent
        }
    }

    let name: String
    let source: Source

    /// All files, with their paths in the package's folder.
    var files: [(path: String, text: String)] {
        [
            ("Package.swift", manifest), ("Sources/\(name)/NoteStore.swift", library),
            ("Tests/\(name)Tests/NoteStoreTests.swift", tests),
            (".github/workflows/tests.yml", workflow), (".gitignore", ".build/\n"),
        ]
    }

    private var manifest: String {
        """
        // swift-tools-version: 6.3
        import PackageDescription

        let package = Package(
            name: "\(name)",
            platforms: [.macOS(.v15), .iOS(.v18)],
            products: [.library(name: "\(name)", targets: ["\(name)"])],
            dependencies: [\(source.line)],
            targets: [
                // On Apple's systems `import CloudKit` is Apple's framework: these products are for Linux only.
                .target(
                    name: "\(name)",
                    dependencies: [
                        .product(
                            name: "CloudKit", package: "\(source.package)",
                            condition: .when(platforms: [.linux]))
                    ]
                ),
                .testTarget(
                    name: "\(name)Tests",
                    dependencies: [
                        "\(name)",
                        .product(
                            name: "TidebellTesting", package: "\(source.package)",
                            condition: .when(platforms: [.linux])),
                    ]
                ),
            ]
        )

        """
    }

    private var library: String {
        """
        import CloudKit

        /// One device's copy of its user's notes.
        public actor NoteStore {
            private static let zoneID = CKRecordZone.ID(zoneName: "Notes")
            private static let subscriptionID = "notes-changes"

            private let database: CKDatabase
            private var records: [CKRecord.ID: CKRecord] = [:]
            private var token: CKServerChangeToken?

            /// Opens the notes of the user who is signed in.
            public init(container: CKContainer = .default()) {
                database = container.privateCloudDatabase
            }

            /// The text of every note, by its name.
            public var notes: [String: String] {
                records.reduce(into: [:]) { $0[$1.key.recordName] = $1.value["text"] as? String }
            }

            /// Makes the zone and a subscription to its changes, and fetches what is there.
            public func start() async throws {
                try await database.save(CKRecordZone(zoneID: Self.zoneID))
                let subscription = CKRecordZoneSubscription(
                    zoneID: Self.zoneID, subscriptionID: Self.subscriptionID)
                let info = CKSubscription.NotificationInfo()
                info.shouldSendContentAvailable = true
                subscription.notificationInfo = info
                try await database.save(subscription)
                try await fetchChanges()
            }

            /// Saves a note. If another device changed it in the meantime, both texts are kept.
            public func save(_ text: String, as name: String) async throws {
                let recordID = CKRecord.ID(recordName: name, zoneID: Self.zoneID)
                let record = records[recordID] ?? CKRecord(recordType: "Note", recordID: recordID)
                record["text"] = text
                do {
                    records[recordID] = try await database.save(record)
                } catch let error as CKError where error.code == .serverRecordChanged {
                    guard let theirs = error.serverRecord else { throw error }
                    theirs["text"] = "\\(theirs["text"] as? String ?? "")\\n\\(text)"
                    records[recordID] = try await database.save(theirs)
                }
            }

            /// Fetches what changed since the last fetch; call it after each push.
            public func fetchChanges() async throws {
                var moreComing = true
                while moreComing {
                    let page = try await database.recordZoneChanges(
                        inZoneWith: Self.zoneID, since: token)
                    for (recordID, result) in page.modificationResultsByID {
                        records[recordID] = try result.get().record
                    }
                    for deletion in page.deletions { records[deletion.recordID] = nil }
                    token = page.changeToken
                    moreComing = page.moreComing
                }
            }
        }

        """
    }

    private var tests: String {
        """
        import CloudKit
        import Testing

        @testable import \(name)

        #if canImport(TidebellTesting)
            import TidebellTesting

            @Suite("Notes on two devices")
            struct NoteStoreTests {
                @Test("a note reaches the other device, by a push")
                func push() async throws {
                    try await TestCloud.run { cloud in
                        let phone = try await cloud.device(user: "anna")
                        let laptop = try await cloud.device(user: "anna")
                        let onPhone = await phone.run { NoteStore() }
                        let onLaptop = await laptop.run { NoteStore() }
                        for store in [onPhone, onLaptop] { try await store.start() }
                        try await laptop.registerForRemoteNotifications()

                        try await onPhone.save("milk", as: "shopping")

                        _ = try await laptop.nextPush()
                        try await onLaptop.fetchChanges()
                        #expect(await onLaptop.notes == ["shopping": "milk"])
                    }
                }

                @Test("both texts are kept when two devices write at once")
                func conflict() async throws {
                    try await TestCloud.run { cloud in
                        let phone = try await cloud.device(user: "anna")
                        let laptop = try await cloud.device(user: "anna")
                        let onPhone = await phone.run { NoteStore() }
                        let onLaptop = await laptop.run { NoteStore() }
                        for store in [onPhone, onLaptop] { try await store.start() }

                        try await onPhone.save("milk", as: "shopping")
                        try await onLaptop.save("eggs", as: "shopping")

                        #expect(await onLaptop.notes == ["shopping": "milk\\neggs"])
                    }
                }
            }
        #else
            @Test(.disabled("The sync tests run on Linux: in CI, or in a container."))
            func testsOfSync() {}
        #endif

        """
    }

    private var workflow: String {
        """
        name: tests
        on: [push, pull_request]
        jobs:
          cloudkit:
            runs-on: ubuntu-latest
            container: swift:6.3-bookworm
            steps:
              - uses: actions/checkout@v4
              - run: apt-get update && apt-get install -y libsqlite3-dev zlib1g-dev
              - uses: actions/cache@v4
                with:
                  path: .build
                  key: ${{ runner.os }}-${{ hashFiles('Package.swift', 'Package.resolved') }}
              - run: swift test

        """
    }
}
