// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire
import TidebellServer

@Suite("Storage of users")
struct StorageTests {
    private func use(_ api: TestAPI) async throws -> StorageUse {
        let uses = try await api.cloud.store.read { try $0.storageUses() }
        return uses.first { if case .account = $0.owner { true } else { false } }?.use ?? .zero
    }

    @Test("ACCT-9: a file counts for every record that holds it, and goes with each")
    func files() async throws {
        let api = try await TestAPI()
        let bytes = [UInt8](repeating: 65, count: 5000)
        for name in ["a", "b"] {
            let asset = try await api.upload(bytes, to: "file", of: name)
            #expect(try await api.save(asset, as: "file", of: name).status == 200)
        }
        let both = try await use(api)
        #expect(both.records == 2 && both.bytes > 10_000 && both.bytes < 12_000)
        // Another content replaces the first.
        let asset = try await api.upload([1], to: "file", of: "a")
        _ = try await api.save(asset, as: "file", of: "a")
        let one = try await use(api)
        #expect(one.records == 2 && one.bytes > 5000 && one.bytes < 6500)
        _ = try await api.post(
            "private/records/modify",
            """
            {"operations":[{"operationType":"forceDelete","record":{"recordName":"a"}},\
            {"operationType":"forceDelete","record":{"recordName":"b"}}]}
            """
        )
        #expect(try await use(api) == .zero)
    }

    @Test("ERR-34: a file that there is no room for is refused at the save, with 25")
    func tooLargeFile() async throws {
        var limits = Limits()
        limits.userQuota = 3000
        let api = try await TestAPI(limits: limits)
        let asset = try await api.upload([UInt8](repeating: 65, count: 5000), to: "file", of: "a")
        let answer = try await api.save(asset, as: "file", of: "a")
        #expect(answer.text.contains(#""serverErrorCode":"QUOTA_EXCEEDED""#))
        #expect(answer.text.contains("(userQuota)"))
        #expect(try await use(api) == .zero)
    }

    @Test(
        "W-13: records/lookup and records/modify return the sync token to callers that ask for it")
    func syncTokens() async throws {
        let api = try await TestAPI()
        try await api.makeZone("Notes")
        let save = """
            {"zoneID":{"zoneName":"Notes"},"operations":[{"operationType":"forceUpdate",\
            "record":{"recordName":"a","recordType":"Note","fields":{}}}]}
            """
        let saved = try await api.post(
            "private/records/modify", save, query: "&getCurrentSyncToken=true")
        let lookup = #"{"zoneID":{"zoneName":"Notes"},"records":[{"recordName":"a"}]}"#
        let found = try await api.post(
            "private/records/lookup", lookup, query: "&getCurrentSyncToken=True")
        let tokens = try [saved, found].map { answer in
            try JSONReader.read(Array(answer.text.utf8)) {
                try ModifyRecords.Response(from: &$0).syncToken
            }
        }
        let token = try #require(tokens[0])
        #expect(tokens[1] == token)
        let changes = try await api.post(
            "private/changes/zone",
            #"{"zones":[{"zoneID":{"zoneName":"Notes"},"syncToken":"\#(token)"}]}"#
        )
        #expect(changes.text.contains(#""records":[]"#))
        #expect(!(try await api.post("private/records/lookup", lookup)).text.contains("syncToken"))
        let plain = try await api.post(
            "private/records/lookup", #"{"records":[{"recordName":"a"}]}"#,
            query: "&getCurrentSyncToken=true")
        #expect(!plain.text.contains("syncToken"))
    }

    /// What becomes of a field's value.
    private func save(_ field: String) async throws -> String {
        let api = try await TestAPI()
        let answer = try await api.post(
            "private/records/modify",
            """
            {"operations":[{"operationType":"create","record":{"recordName":"a",\
            "recordType":"Note","fields":{"f":\(field)}}}]}
            """
        )
        return answer.text
    }

    @Test("W-15: ENCRYPTED_BYTES is the tag of bytes that are encrypted")
    func encryptedBytes() async throws {
        let text = try await save(#"{"value":"AQI=","type":"ENCRYPTED_BYTES"}"#)
        #expect(text.contains(#""f":{"value":"AQI=","type":"BYTES","isEncrypted":true}"#))
    }

    @Test("W-15: a reference without an action has none, as some clients send it")
    func action() async throws {
        let text = try await save(#"{"value":{"recordName":"b"},"type":"REFERENCE"}"#)
        #expect(
            text.contains(#""f":{"value":{"recordName":"b","action":"NONE"},"type":"REFERENCE"}"#))
    }

    @Test("W-15: a location that is nowhere on Earth is refused")
    func location() async throws {
        for location in [(200.0, 0.0), (0.0, -180.5)] {
            let text = try await save(
                #"{"value":{"latitude":\#(location.0),"longitude":\#(location.1)},"type":"LOCATION"}"#
            )
            #expect(text.contains("a latitude is -90 to 90 and a longitude -180 to 180"))
        }
        let pole = try await save(#"{"value":{"latitude":-90,"longitude":180},"type":"LOCATION"}"#)
        #expect(!pole.contains("serverErrorCode"))
    }
}
