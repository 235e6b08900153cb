// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellWire

@Suite("Endpoints")
struct EndpointTests {
    @Test("No two endpoints have a path in common")
    func paths() {
        let paths = WireProtocol.endpoints.flatMap { $0.route.paths }
        #expect(Set(paths).count == paths.count)
        #expect(
            Set(WireProtocol.endpoints.map(ObjectIdentifier.init)).count
                == WireProtocol.endpoints.count)
    }

    @Test("A path names version, container, environment and, where it is in one, the database")
    func text() {
        #expect(
            ModifyRecords.route.path.text(in: "a.b", "production", .shared)
                == "/database/1/a.b/production/shared/records/modify")
        #expect(
            FetchCaller.route.path.text(in: "a.b", "development")
                == "/database/1/a.b/development/public/users/caller")
        #expect(
            SignIn.route.path.text(in: "a.b", "development")
                == "/ext/1/a.b/development/account/signIn")
        #expect(ReceiveAsset.route.path.stem == "/assets/1/upload/")
        #expect(PollCourier.route.path.stem == "/courier/")
    }

    @Test("ACCT-3: what needs a user")
    func access() {
        for scope in DatabaseScope.allCases {
            #expect(WireAccess.reader.needsUser(in: scope) == (scope != .public))
            #expect(WireAccess.user.needsUser(in: scope))
            #expect(!WireAccess.anyone.needsUser(in: scope))
        }
        #expect(WireAccess.user.needsUser(in: nil))
    }

    @Test("ACCT-3: only what reads is open to everybody in the public database")
    func readers() {
        for endpoint in WireProtocol.endpoints where endpoint.route.access == .reader {
            #expect(endpoint.route.effect == .reads, "\(endpoint)")
        }
    }
}
