// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import TidebellCore
import TidebellPush
import TidebellScheduling
import TidebellWire

@testable import TidebellSQL
@testable import TidebellSQLite
@testable import TidebellServer

/// Checks of a store in which something is shared.
@Suite("Checks of shares", .onSQLite) struct ShareCheckTests {
    /// A change of a sound store, and what the check is to find, where.
    struct Damage: Sendable, CustomTestStringConvertible {
        var sql: String
        var finding: String
        var testDescription: String { sql }
    }

    private static let damages = [
        Damage(
            sql: "UPDATE record SET deleted = 1 WHERE name = 'share'",
            finding: "Lists/share: the share has no record"),
        Damage(
            sql: "DELETE FROM record WHERE name = 'share'",
            finding: "Lists/share: the share has no record"),
        Damage(
            sql: "DELETE FROM share WHERE name = 'share'",
            finding: "Lists/share: the record is of a share that is not there"),
        Damage(
            sql: "UPDATE share SET root = 'nothing' WHERE name = 'share'",
            finding: "Lists/share: the share's root is not there (nothing)"),
        Damage(
            sql: """
                INSERT INTO share (zone, name, root, short_guid, public_permission, participants)
                SELECT zone, 'cloudkit.zoneshare', '', 'x', 'NONE', '[]' FROM share
                WHERE name = 'share'
                """,
            finding: "Lists: the zone is shared as a whole, and so are records in it"),
        Damage(
            sql: "UPDATE zone SET sharing = 0 WHERE name = 'Lists'",
            finding: "Lists: what the zone notes of its shares is not what they are (0)"),
        Damage(
            sql: "UPDATE zone SET sharing = 1 WHERE name = 'All'",
            finding: "All: what the zone notes of its shares is not what they are (1)"),
        Damage(
            sql: "UPDATE share SET participants = '[' WHERE name = 'share'",
            finding: "Lists/share: the share's participants are damaged"),
        Damage(
            sql: "UPDATE share SET floor = 1 << 59 WHERE name = 'share'",
            finding: "Lists/share: the floor of the share is ahead of its zone (… after …)"),
        Damage(
            sql: "UPDATE share SET zone = 99 WHERE name = 'share'",
            finding: "zone 99: rows of 'share' belong to a zone that is gone (1)"),
        Damage(
            sql: "UPDATE share_grant SET zone = 99 WHERE share = 'share'",
            finding: "zone 99: rows of 'share_grant' belong to a zone that is gone (1)"),
        Damage(
            sql: "UPDATE shared_record SET zone = 99 WHERE name = 'item'",
            finding: "zone 99: rows of 'shared_record' belong to a zone that is gone (1)"),
        Damage(
            sql: "UPDATE share_grant SET share = 'nothing' WHERE share = 'share'",
            finding: "Lists/nothing: a user may do in the share what nobody let them (user …)"),
        Damage(
            sql: "UPDATE share_grant SET permission = 'READ_WRITE' WHERE share = 'share'",
            finding: "Lists/share: a user may do in the share what nobody let them (user …)"),
        Damage(
            sql: "UPDATE share_grant SET administrator = 1 WHERE share = 'share'",
            finding: "Lists/share: a user may do in the share what nobody let them (user …)"),
        Damage(
            sql: "UPDATE share_grant SET root = 'other' WHERE share = 'share'",
            finding: "Lists/share: a user may do in the share what nobody let them (user …)"),
        Damage(
            sql: "UPDATE share_grant SET ended = 1 WHERE share = 'share'",
            finding: "Lists/share: a user may not do in the share what they were let (user …)"),
        Damage(
            sql: "UPDATE share SET participants = '[]' WHERE name = 'share'",
            finding: "Lists/share: a user may do in the share what nobody let them (user …)"),
        Damage(
            sql: "UPDATE share_grant SET user = 99 WHERE share = 'share'",
            finding: "Lists/share: a user takes part in the share who is not there (user 99)"),
        Damage(
            sql: "UPDATE share_grant SET position = 1 << 59 WHERE share = 'share'",
            finding: "Lists/share: a user takes part in the share later than its zone's newest "
                + "position (… after …)"),
        Damage(
            sql: "UPDATE shared_record SET left_at = NULL WHERE name = 'other'",
            finding: "Lists/other: the record is kept in the hierarchy of a share that it is not "
                + "below (share)"),
        Damage(
            sql: "UPDATE record SET parent = NULL WHERE name = 'item'",
            finding: "Lists/item: the record is kept in the hierarchy of a share that it is not "
                + "below (share)"),
        Damage(
            sql: "DELETE FROM shared_record WHERE name = 'item'",
            finding: "Lists/item: the record is not kept in the hierarchy of the share that it is "
                + "below (share)"),
        Damage(
            sql: "DELETE FROM shared_record WHERE name = 'share'",
            finding: "Lists/share: the record is not kept in the hierarchy of the share that it is "
                + "below (share)"),
        Damage(
            sql: "DELETE FROM reference WHERE source = 'item'",
            finding: "Lists/item: the record's parent is not among its references (root)"),
        Damage(
            sql: "UPDATE shared_record SET name = 'nothing' WHERE name = 'other'",
            finding: "Lists/nothing: the history of a hierarchy has a record that is not there "
                + "(share)"),
        Damage(
            sql: "UPDATE shared_record SET share = 'nothing' WHERE name = 'item'",
            finding: "Lists/item: the hierarchy's share has ended (nothing)"),
        Damage(
            sql: "UPDATE shared_record SET position = 1 << 59 WHERE name = 'item'",
            finding: "Lists/item: the record's position in a hierarchy is ahead of its zone "
                + "(… after …)"),
        Damage(
            sql: """
                UPDATE shared_zone SET zone = (SELECT key FROM zone WHERE name = 'Own')
                WHERE name = 'Lists'
                """,
            finding: "Own: a shared database lists the zone, which is not shared with its owner "
                + "(database …)"),
        Damage(
            sql: "DELETE FROM shared_zone WHERE name = 'Lists'",
            finding: "Lists: the zone is shared with a user whose shared database does not list it "
                + "(database …)"),
        Damage(
            sql: "UPDATE shared_zone SET deletion = 'deleted', deleted_at = 1 WHERE name = 'All'",
            finding: "All: the zone is shared with a user whose shared database does not list it "
                + "(database …)"),
        Damage(
            sql: "UPDATE shared_zone SET database = 99 WHERE name = 'Lists'",
            finding: ": a zone is listed by no shared database (Lists)"),
        Damage(
            sql: "UPDATE shared_zone SET position = 1 << 59 WHERE name = 'Lists'",
            finding: "Lists: the zone's position in a shared database is ahead of that "
                + "(… after …)"),
        Damage(
            sql: "UPDATE shared_zone SET source = 1 << 59 WHERE name = 'Lists'",
            finding: "Lists: a shared database has a position of the zone that is ahead of it "
                + "(… after …)"),
        Damage(
            sql: "UPDATE account_address SET account = 99",
            finding: ": the address belongs to no account (ben@example.com)"),
    ]

    @Test("A check names what is wrong with shares, and where", arguments: damages)
    func findings(damage: Damage) async throws {
        let api = try await makeCloud()
        #expect(try problems(of: api) == [])
        try await api.cloud.store.write(.everything) { transaction in
            let transaction = try #require(transaction as? SQLTransaction)
            try transaction.connection.run(damage.sql)
        }
        let found = try problems(of: api)
        #expect(found.contains(damage.finding), "\(found)")
    }

    @Test("What has not crossed to a participant's database yet is no problem")
    func pending() async throws {
        let api = try await makeCloud()
        // The pipeline comes to it later.
        _ = try await api.post(
            "private/records/modify",
            """
            {"zoneID":{"zoneName":"Lists"},"operations":[{"operationType":"forceDelete",\
            "record":{"recordName":"share"}}]}
            """)
        #expect(try problems(of: api) == [])
        _ = try await api.cloud.pipeline.drain()
        #expect(try problems(of: api) == [])
    }

    @Test("TOK-25: records that are still to follow into shares or out of them are no problem")
    func settling() async throws {
        var limits = Limits()
        limits.movedRecords = 0
        let api = try await makeCloud(limits)
        let settling = HierarchySettling(
            store: api.cloud.store, time: Time(now: { api.clock.instant }, clock: api.clock),
            logger: api.log.logger)
        // What came in with its share, what leaves it, and what an ended share has left.
        for operations in [
            nil, record("below", "item"), record("item"),
            #"{"operationType":"forceDelete","record":{"recordName":"share"}}"#,
        ] {
            if let operations {
                let answer = try await api.post(
                    "private/records/modify",
                    #"{"zoneID":{"zoneName":"Lists"},"operations":[\#(operations)]}"#)
                #expect(!answer.text.contains("serverErrorCode"), "\(answer.text)")
                _ = try await api.cloud.pipeline.drain()
            }
            #expect(try problems(of: api) == [])
            await settling.settle()
            _ = try await api.cloud.pipeline.drain()
            #expect(try problems(of: api) == [])
        }
    }

    // MARK: -

    /// Where each problem is and what it is, with "…" for numbers that differ.
    private func problems(of api: TestAPI) throws -> [String] {
        let path = api.folder.appendingPathComponent(SQLiteFactory.fileName).path
        return try StoreCheck.run(at: path).problems.map { problem in
            let place = [problem.zone, problem.record].compactMap(\.self).joined(separator: "/")
            let text = problem.problem
                .replacing(/\d+ after \d+/, with: "… after …")
                .replacing(/database \d+/, with: "database …")
                .replacing(/user [1-9]\b/, with: "user …")
            return "\(place): \(text)"
        }
    }

    /// Anna's zones: "Lists", of which Ben sees what is below "root" and saw "other", "All", which
    /// is shared as a whole, and "Own".
    private func makeCloud(_ limits: Limits = Limits()) async throws -> TestAPI {
        let api = try await TestAPI(limits: limits)
        let accounts = api.cloud.accounts
        _ = try await accounts.add(named: "ben")
        _ = try await accounts.addAddress("ben@example.com", of: "ben")
        let token = try await accounts.makeWebToken(for: "ben")
        func bens(_ path: String) -> String {
            TestAPI.target(path, apiToken: api.apiToken, webToken: token)
        }
        let caller = try await api.send("GET", bens("public/users/caller"))
        let ben = try JSONReader.read(Array(caller.text.utf8)) {
            try CallerResponse(from: &$0)
        }.userRecordName
        for zone in ["Lists", "All", "Own"] { try await api.makeZone(zone) }
        for (zone, operations) in [
            ("Lists", "\(record("root")),\(record("item", "root")),\(record("other", "root"))"),
            ("Lists", share("share", of: "root", with: ben)),
            ("Lists", record("other", nil)),
            ("All", "\(record("root")),\(share("cloudkit.zoneshare", of: nil, with: ben))"),
            ("Own", record("root")),
        ] {
            let answer = try await api.post(
                "private/records/modify",
                #"{"zoneID":{"zoneName":"\#(zone)"},"operations":[\#(operations)]}"#)
            #expect(!answer.text.contains("serverErrorCode"), "\(answer.text)")
            for guid in answer.text.matches(of: /"shortGUID":"([^"]+)"/) {
                _ = try await api.send(
                    "POST", bens("public/records/accept"),
                    #"{"shortGUIDs":[{"value":"\#(guid.1)"}]}"#)
            }
        }
        _ = try await api.cloud.pipeline.drain()
        return api
    }

    private func record(_ name: String, _ parent: String? = nil) -> String {
        let above = parent.map { #"{"recordName":"\#($0)"}"# } ?? "null"
        return """
            {"operationType":"forceUpdate","record":{"recordName":"\(name)","recordType":"Item",\
            "fields":{},"parent":\(above)}}
            """
    }

    private func share(_ name: String, of root: String?, with user: String) -> String {
        let about = root.map { #""forRecord":{"recordName":"\#($0)"},"# } ?? ""
        return """
            {"operationType":"create","record":{"recordName":"\(name)",\(about)\
            "recordType":"cloudkit.share","participants":[{"userIdentity":{"lookupInfo":\
            {"userRecordName":"\(user)"}},"permission":"READ_ONLY"}]}}
            """
    }
}
