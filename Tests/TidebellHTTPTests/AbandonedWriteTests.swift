// SPDX-License-Identifier: Apache-2.0
import Foundation
import TidebellTestStores
import HTTPTypes
import TestSupport
import Testing
import TidebellCore
import TidebellServer

@testable import TidebellHTTP
@testable import TidebellSQLite

@Suite("Writes of clients that went", .hangs, .onSQLite) struct AbandonedWriteTests {
    @Test("A write of a client that went before its turn came is not done; others are")
    func gone() async throws {
        let api = try await TestAPI()
        try await api.makeZone("Z")
        let store = try #require(api.cloud.store.engine as? SQLiteStore)
        let (held, isHeld) = (DispatchSemaphore(value: 0), AsyncStream.makeStream(of: Void.self))
        let clients = ["a": ClientPresence(), "b": ClientPresence()]
        let target = api.target("private/records/modify")
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await store.write(.store) { _ in
                    isHeld.continuation.yield()
                    held.wait()
                }
            }
            for await _ in isHeld.stream { break }
            for name in clients.keys.sorted() {
                let body = """
                    {"zoneID":{"zoneName":"Z"},"operations":[{"operationType":"create","record":\
                    {"recordName":"\(name)","recordType":"Note","fields":{}}}]}
                    """
                group.addTask {
                    _ = await api.cloud.respond(
                        to: WebRequest(
                            .post, target, body: .bytes(Array(body.utf8)),
                            presence: clients[name]))
                }
                // The first waits in the engine; the next may wait in what wraps the engine.
                await eventually { store.waitingWrites >= 1 }
            }
            clients["a"]?.leave()
            held.signal()
            try await group.waitForAll()
        }
        let answer = try await api.post(
            "private/records/lookup",
            #"{"zoneID":{"zoneName":"Z"},"records":[{"recordName":"a"},{"recordName":"b"}]}"#)
        #expect(answer.text.contains("NOT_FOUND") && answer.text.contains(#""recordName":"b""#))
        #expect(!answer.text.contains(#""recordName":"a","recordType""#))
        #expect(api.log.detailedLines == [])
        try await store.close()
    }
}
