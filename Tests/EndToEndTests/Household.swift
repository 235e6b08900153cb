// SPDX-License-Identifier: Apache-2.0
import CloudKit
import Foundation
import TestSupport
import Testing
import TidebellProcesses

/// One user's devices, all talking to a server process over HTTP.
struct Household: Sendable {
    static let container = "iCloud.org.tidebell.tests"

    private let program: TidebellProgram
    private let address: URL
    private let apiToken: String
    private let webAuthToken: String

    init(program: TidebellProgram, user: String) async throws {
        self.program = program
        address = try #require(URL(string: program.address))
        apiToken = try await program.token(["api-token", "create", "--name", "tests"])
        webAuthToken = try await program.token(["user", "add", user])
    }

    private init(
        program: TidebellProgram, address: URL, apiToken: String, webAuthToken: String
    ) {
        self.program = program
        self.address = address
        self.apiToken = apiToken
        self.webAuthToken = webAuthToken
    }

    /// The same user's devices, at another server of the cloud.
    func at(_ other: TidebellProgram) throws -> Household {
        Household(
            program: other, address: try #require(URL(string: other.address)), apiToken: apiToken,
            webAuthToken: webAuthToken)
    }

    /// The port of the server.
    var port: Int { program.port }

    /// The query of a web client.
    var tokens: String { "ckAPIToken=\(apiToken)&ckWebAuthToken=\(webAuthToken)" }

    /// A device of its own, with nothing stored; what it keeps is in `folder`, nil keeps it in memory and
    /// downloads among temporary files.
    func database(in folder: URL? = nil) throws -> (CKContainer, CKDatabase) {
        let server = address
        let configuration = DeviceConfiguration(
            server: server, apiToken: apiToken, webAuthToken: webAuthToken,
            environment: "development", defaultContainer: nil, deviceID: UUID().uuidString,
            stateFolder: folder
        )
        let session = DeviceSession(
            configuration: configuration,
            transport: HTTPTransport(server: server, leastTimeout: .patience)
        )
        let container = CKContainer(identifier: Self.container, session: session)
        return (container, container.privateCloudDatabase)
    }

    /// Creates the zone and a database subscription.
    func prepare(zone: String) async throws {
        let (_, database) = try database()
        _ = try await database.save(CKRecordZone(zoneName: zone))
        let subscription = CKDatabaseSubscription(subscriptionID: "everything")
        let info = CKSubscription.NotificationInfo()
        info.shouldSendContentAvailable = true
        subscription.notificationInfo = info
        _ = try await database.save(subscription)
    }

    /// Registers a device token of Apple's.
    func registerAppleDevice(token: String, as clientID: String = "phone") async throws {
        let server = address
        let query = "\(tokens)&clientId=\(clientID)"
        let answer = try await HTTPTransport(server: server, leastTimeout: .patience).send(
            TransportRequest(
                method: "POST",
                path: "/device/1/\(Self.container)/development/tokens/register?\(query)",
                headers: [("Content-Type", "application/json")],
                body: Array(#"{"apnsEnvironment":"development","apnsToken":"\#(token)"}"#.utf8)
            ),
            timeout: .patience
        )
        #expect(answer.status == 200)
    }

    /// Calls an endpoint of the private database as a web client; returns the answer's text.
    func post(_ endpoint: String, _ json: String) async throws -> String {
        let server = address
        let query = "ckAPIToken=\(apiToken)&ckWebAuthToken=\(webAuthToken)"
        let answer = try await HTTPTransport(server: server, leastTimeout: .patience).send(
            TransportRequest(
                method: "POST",
                path: "/database/1/\(Self.container)/development/private/\(endpoint)?\(query)",
                headers: [("Content-Type", "application/json")],
                body: Array(json.utf8)
            ),
            timeout: .patience
        )
        return String(decoding: answer.body, as: UTF8.self)
    }

    /// Saves a record in the zone, on a device of its own.
    func save() async throws {
        let (_, database) = try database()
        let name = UUID().uuidString
        let id = CKRecord.ID(recordName: name, zoneID: FetchedState.zoneID)
        _ = try await database.save(CKRecord(recordType: "Entry", recordID: id))
    }

    func devices(_ count: Int) -> [Watcher] {
        (0..<count).map { _ in Watcher(household: self) }
    }

    /// What a new device sees: every record's value by name.
    func everything() async throws -> [String: Int] {
        let (_, database) = try database()
        var state = FetchedState()
        try await state.fetch(from: database)
        return state.values
    }

    /// A device that speaks the Web Services itself.
    func wireDevice(_ clientID: String) -> WireDevice {
        WireDevice(
            server: address, apiToken: apiToken,
            webAuthToken: webAuthToken, clientID: clientID
        )
    }

    /// A device of somebody else.
    func wireDevice(_ clientID: String, webAuthToken: String) -> WireDevice {
        WireDevice(
            server: address, apiToken: apiToken, webAuthToken: webAuthToken, clientID: clientID
        )
    }
}

/// Records as fetched so far, and the token of that position.
struct FetchedState: Sendable {
    static let zoneID = CKRecordZone.ID(zoneName: "Feed")

    private(set) var values: [String: Int] = [:]
    private var token: CKServerChangeToken?

    mutating func fetch(from database: CKDatabase) async throws {
        var moreComing = true
        while moreComing {
            let changes = try await database.recordZoneChanges(
                inZoneWith: Self.zoneID, since: token
            )
            for (recordID, result) in changes.modificationResultsByID {
                values[recordID.recordName] = try result.get().record["value"]
            }
            for deletion in changes.deletions { values[deletion.recordID.recordName] = nil }
            token = changes.changeToken
            moreComing = changes.moreComing
        }
    }
}

/// A subscribed device that fetches when it is asked to, and never else.
actor Watcher {
    private let household: Household
    private var state = FetchedState()
    private var registration: CKRemoteNotificationRegistration?
    private var database: CKDatabase?

    init(household: Household) {
        self.household = household
    }

    func watch() async throws {
        let (container, database) = try household.database()
        self.database = database
        registration = try await container.registerForRemoteNotifications { [weak self] _ in
            await self?.fetch()
        }
    }

    /// Waits until the device has all of `truth` and nothing else.
    func wait(for truth: [String: Int]) async throws {
        await eventually { state.values == truth }
        registration?.cancel()
    }

    /// As an app would: tries until the server, which may be down, answers.
    private func fetch() async {
        guard let database else { return }
        while !Task.isCancelled {
            var next = state
            if (try? await next.fetch(from: database)) != nil {
                state = next
                return
            }
            try? await Task.sleep(for: .milliseconds(20))
        }
    }

}
