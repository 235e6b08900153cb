// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing
import TidebellHTTP
import TidebellPush
import TidebellScheduling
import TidebellServer
import TidebellWire

@Suite("/admin/1/…/schema", .hangs)
struct SchemaEndpointTests {
    private let api: TestAPI
    private let token: String

    init() async throws {
        api = try await TestAPI()
        token = try await api.cloud.accounts.makeAdminToken(named: "ci")
    }

    private func ask(
        _ verb: String, _ body: String = "", in environment: String = "development"
    ) async throws -> TestAPI.Answer {
        try await api.send(
            "POST", "/admin/1/\(TestAPI.container)/\(environment)/\(verb)", body,
            headers: ["Authorization": "Bearer \(token)"])
    }

    private func save(
        _ name: String, _ fields: String, in environment: String = "development"
    ) async throws -> String {
        let target = api.target("private/records/modify")
            .replacing("/development/", with: "/\(environment)/")
        return try await api.send(
            "POST", target,
            #"{"operations":[{"operationType":"create","record":{"recordName":"\#(name)","#
                + #""recordType":"Note","fields":{\#(fields)}}}]}"#
        ).text
    }

    private static let title = #""title":{"value":"tide"}"#
    private static let schema =
        #"{"schema":"DEFINE SCHEMA RECORD TYPE Note (title STRING QUERYABLE);"}"#

    @Test(
        "ENV-1, ENV-2: the operator deploys over the network, and the history has the token's name")
    func deployment() async throws {
        #expect(
            try await save("a", Self.title, in: "production").contains(
                #""reason":"Cannot create new type Note in production schema; once development has "#
                    + #"it, deploy it: tidebell schema deploy \#(TestAPI.container)""#))
        _ = try await save("a", Self.title)
        #expect(
            try await ask("schema/check").text
                == #"{"missing":["the record type Note","the field Note.title STRING"]}"#)
        #expect(try await ask("schema/deploy").status == 400)
        let deployed = try await ask("schema/deploy", in: "production")
        #expect(deployed.status == 200)
        #expect(deployed.text.hasPrefix(#"{"changes":["+ RECORD TYPE Note","#))
        #expect(deployed.text.hasSuffix(#""refused":[],"kept":[],"number":1}"#))
        #expect(try await save("a", Self.title, in: "production").contains(#""recordName":"a""#))
        #expect(
            try await ask("schema/diff").text == #"{"changes":[],"refused":[],"kept":[]}"#)
        let history = try await ask("schema/history")
        #expect(
            history.text.hasPrefix(
                #"{"deployments":[{"number":1,"deployedAt":\#(TestAPI.start.rawValue),"#
                    + #""author":"ci","changes":["+ RECORD TYPE Note","#))
        let file = try await ask("schema/export", in: "production")
        #expect(file.text.contains(#"title STRING QUERYABLE SORTABLE SEARCHABLE"#))
    }

    @Test("What is imported, checked, indexed and reset over the network is what the commands do")
    func verbs() async throws {
        let imported = try await ask("schema/import", Self.schema)
        #expect(imported.text.contains(#""+ Note.title STRING QUERYABLE""#))
        #expect(
            try await ask("schema/validate", Self.schema).text
                == #"{"changes":[],"refused":[],"kept":[]}"#)
        #expect(
            try await ask(
                "schema/index",
                #"{"recordType":"Note","fieldName":"title","indexes":["SORTABLE"]}"#
            ).text == #"{"changes":["+ Note.title SORTABLE"],"refused":[],"kept":[]}"#)
        let wrong = try await ask("schema/import", #"{"schema":"DEFINE\n SCHEME"}"#)
        #expect(wrong.status == 400)
        #expect(
            wrong.error?.reason
                == "The schema cannot be read, line 2, column 2: expected SCHEMA, found 'SCHEME'.")
        #expect(
            try await ask("schema/reset").text
                == #"{"changes":["- RECORD TYPE Note"],"zones":0,"records":0}"#)
        let elsewhere = try await ask("schema/import", Self.schema, in: "production")
        #expect(
            elsewhere.error?.reason
                == "an import is of development: write that in the path instead of production")
    }

    @Test(
        "C9: a check quotes the queries that need what production lacks, also once they are stored")
    func check() async throws {
        _ = try await save("a", Self.title)
        _ = try await ask("schema/deploy", in: "production")
        _ = try await ask("schema/import", Self.schema)
        _ = try await ask("schema/deploy", in: "production")
        _ = try await ask(
            "schema/index", #"{"recordType":"Note","fieldName":"title","indexes":["SORTABLE"]}"#)
        _ = try await api.post(
            "private/records/query",
            #"{"query":{"recordType":"Note","sortBy":[{"fieldName":"title"}],"filterBy":[{"fieldName":"title","comparator":"EQUALS","fieldValue":{"value":"secret"}}]}}"#
        )
        let missing =
            #"{"missing":["the index SORTABLE of Note.title, for the query Note: title == %@, "#
            + #"sorted by title"]}"#
        #expect(try await ask("schema/check").text == missing)
        try await api.cloud.maintenance.storeQueryUses()
        #expect(try await ask("schema/check").text == missing)
        _ = try await ask("schema/deploy", in: "production")
        #expect(try await ask("schema/check").text == #"{"missing":[]}"#)
    }

    @Test("QUERY-14, SUB-26: a query is explained over the network, and subscriptions are named")
    func explainedQuery() async throws {
        _ = try await ask("schema/import", Self.schema)
        for name in ["a", "b"] { _ = try await save(name, Self.title) }
        let filter =
            #"[{"fieldName":"title","comparator":"EQUALS","fieldValue":{"value":"tide"}}]"#
        #expect(
            try await ask(
                "query/explain",
                #"{"user":"me","request":{"resultsLimit":1,"query":{"recordType":"Note","filterBy":\#(filter)}}}"#
            ).text
                == #"{"zones":[{"zone":"_defaultZone","source":"scan","reason":"no index is there; "#
                + #"one is made when a query looks at many records and finds few, unless the zone has as "#
                + #"many as it may","entries":0,"#
                + #""records":2,"found":1}],"wishes":[],"moreComing":true}"#)
        for (body, reason) in [
            ("{}", "missing required field 'request'"),
            (#"{"database":"all"}"#, "database must be 'public', 'private' or 'shared'"),
            (
                #"{"database":"public","request":{"query":{"recordType":"Note","filterBy":[{"fieldName":"size","comparator":"EQUALS","fieldValue":{"value":1}}]}}}"#,
                "query: filterBy[0], EQUALS on 'size': Did not find field: 'size' in type 'Note'"
            ),
        ] {
            let answer = try await ask("query/explain", body)
            #expect(answer.status == 400)
            #expect(answer.error?.reason.contains(reason) == true, "\(answer.text)")
        }
        _ = try await api.post(
            "private/subscriptions/modify",
            #"{"operations":[{"operationType":"create","subscription":{"subscriptionID":"tides","subscriptionType":"query","firesOn":["create"],"query":{"recordType":"Note","filterBy":\#(filter)}}}]}"#
        )
        #expect(
            try await ask("schema/validate", Self.schema.replacing(" QUERYABLE", with: "")).text
                .hasSuffix(
                    #""warnings":["no longer fires: the subscription Note: title == %@ without "#
                        + #"the index QUERYABLE of Note.title"]}"#))
        #expect(
            try await ask("schema/reset").text
                == #"{"changes":["- RECORD TYPE Note"],"warnings":["no longer fires: the "#
                + #"subscription Note: title == %@ without the record type Note"],"#
                + #""zones":0,"records":2}"#)
    }

    @Test("QUERY-5, SUB-22: a subscription of all text fires for searchable fields alone")
    func searchedSubscription() async throws {
        _ = try await ask(
            "schema/import",
            #"{"schema":"DEFINE SCHEMA RECORD TYPE Note (title STRING, text STRING SEARCHABLE);"}"#)
        _ = try await api.send(
            "POST", api.target(under: "device", "tokens/create") + "&clientId=listener",
            #"{"apnsEnvironment":"development"}"#)
        _ = try await api.post(
            "private/subscriptions/modify",
            #"{"operations":[{"operationType":"create","subscription":{"subscriptionID":"words","subscriptionType":"query","firesOn":["create"],"query":{"recordType":"Note","filterBy":[{"comparator":"CONTAINS_ALL_TOKENS","fieldValue":{"value":"tide"}}]},"notificationInfo":{"shouldSendContentAvailable":true}}}]}"#
        )
        _ = try await save("title", Self.title)
        _ = try await save("text", #""text":{"value":"High Tide"}"#)
        _ = try await api.cloud.pipeline.drain()
        let silent = try await ask("push/explain?record=title").text
        #expect(silent.contains(#""outcome":"doesNotFire""#), "\(silent)")
        let fired = try await ask("push/explain?record=text").text
        #expect(fired.contains(#""outcome":"told""#), "\(fired)")
    }

    @Test("SUB-26: a subscription without its index is silent, and its explanation says why")
    func silence() async throws {
        _ = try await ask("schema/import", Self.schema)
        _ = try await api.send(
            "POST", api.target(under: "device", "tokens/create") + "&clientId=listener",
            #"{"apnsEnvironment":"development"}"#)
        _ = try await api.post(
            "private/subscriptions/modify",
            #"{"operations":[{"operationType":"create","subscription":{"subscriptionID":"tides","subscriptionType":"query","firesOn":["create"],"query":{"recordType":"Note","filterBy":[{"fieldName":"title","comparator":"EQUALS","fieldValue":{"value":"tide"}}]},"notificationInfo":{"shouldSendContentAvailable":true}}}]}"#
        )
        _ = try await ask("schema/import", Self.schema.replacing(" QUERYABLE", with: ""))
        _ = try await save("a", Self.title)
        _ = try await api.cloud.pipeline.drain()
        let explained = try await ask("push/explain?record=a").text
        #expect(
            explained.contains(
                "it is silent: Field 'title' is not marked queryable; mark it: tidebell schema index "
                    + "\(TestAPI.container) Note.title QUERYABLE"))
        #expect(explained.contains(#""rule":"SUB-26""#))
    }
}
