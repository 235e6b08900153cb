// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellHTTP
import TidebellServer
import TidebellWire

/// A cloud in which `me` can share a list; `ben` and `carl` have passwords, and use the app.
struct SharePageScene: Sendable {
    let api: TestAPI
    let ben: String

    init() async throws {
        var limits = ShareLimits()
        // Browsers of the tests come from addresses of this machine.
        limits.countsLoopback = true
        api = try await TestAPI(shares: limits)
        let accounts = api.cloud.accounts
        var names: [String] = []
        for name in ["ben", "carl"] {
            let token = try await accounts.add(named: name)
            try await accounts.setPassword(
                "correct horse", of: name, keepsTokens: true, cost: .least)
            let caller = try await api.send(
                "GET",
                TestAPI.target("public/users/caller", apiToken: api.apiToken, webToken: token))
            names.append(
                try JSONReader.read(Array(caller.text.utf8)) { try CallerResponse(from: &$0) }
                    .userRecordName)
        }
        ben = names[0]
        try await api.makeZone("Lists")
        try await api.save("root", in: "Lists")
    }

    /// Shares the list; returns the path of its page.
    ///
    /// - Parameters:
    ///   - participants: JSON of those who are invited; Ben where it is left out.
    ///   - permission: The public permission.
    func share(
        title: String = "Groceries", with participants: String? = nil,
        open permission: String = "NONE"
    ) async throws -> String {
        let ben = """
            {"userIdentity":{"lookupInfo":{"userRecordName":"\(ben)"}},"permission":"READ_WRITE"}
            """
        let fields = RecordFields([ShareNames.title: Field(.string(title))])
        let answer = try await api.post(
            "private/records/modify",
            """
            {"zoneID":{"zoneName":"Lists"},"operations":[{"operationType":"forceUpdate",\
            "record":{"recordName":"root","recordType":"Note","createShortGUID":true,"fields":{}}},\
            {"operationType":"create","record":{"recordName":"share",\
            "recordType":"cloudkit.share","forRecord":{"recordName":"root"},\
            "fields":\(String(decoding: fields.json, as: UTF8.self)),\
            "publicPermission":"\(permission)","participants":[\(participants ?? ben)]}}]}
            """)
        let guid = try #require(
            answer.text.firstMatch(of: /"shortGUID":"([^"]+)"/), "\(answer.text)")
        return "/share/\(guid.1)"
    }

    /// Changes who takes part in the share; returns the one-time URLs' paths.
    ///
    /// - Parameter participants: JSON of all but the owner.
    @discardableResult
    func change(_ participants: String) async throws -> [String] {
        let extended = ["X-Tidebell-Extensions": "1"]
        let known = try await api.send(
            "POST", api.target("private/records/lookup"),
            #"{"zoneID":{"zoneName":"Lists"},"records":[{"recordName":"share"}]}"#,
            headers: extended)
        let tag = try #require(known.text.firstMatch(of: /"recordChangeTag":"([^"]+)"/)).1
        let answer = try await api.send(
            "POST", api.target("private/records/modify"),
            """
            {"zoneID":{"zoneName":"Lists"},"operations":[{"operationType":"update",\
            "record":{"recordName":"share","recordChangeTag":"\(tag)","fields":{},\
            "participants":[\(participants)]}}]}
            """,
            headers: extended)
        #expect(answer.status == 200 && !answer.text.contains("serverErrorCode"), "\(answer.text)")
        return answer.text.matches(of: /"oneTimeShortGUID":"([^"]+)"/).map { "/share/\($0.1)" }
    }

    /// Whether Ben has the list in his shared database.
    func hasAccepted(_ user: String = "ben") async throws -> Bool {
        let container = ContainerKey(container: TestAPI.container, environment: .development)
        return try await api.cloud.store.read { reader in
            guard let account = try reader.account(named: user),
                let known = try reader.user(of: account, in: container)
            else { return false }
            return try !reader.grantedZones(to: known.id, among: nil).isEmpty
        }
    }
}
