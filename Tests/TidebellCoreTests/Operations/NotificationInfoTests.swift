// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire

@Suite struct NotificationInfoTests {
    private static func subscription(
        _ kind: WireSubscription.Kind = .query, _ set: (inout WireNotificationInfo) -> Void
    ) -> WireSubscription {
        var info = WireNotificationInfo()
        set(&info)
        return WireSubscription(
            subscriptionID: "s", kind: kind,
            zoneID: kind == .zone ? ZoneID(zoneName: "Notes") : nil,
            recordType: kind == .query ? "Note" : nil, firesOn: kind == .query ? [.create] : [],
            notificationInfo: info
        )
    }

    /// Why the subscription is refused; nil if it is saved.
    private func reason(_ subscription: WireSubscription, on bench: Bench) async throws -> String? {
        guard case .failed(_, let error) = try await bench.subscribe(subscription) else {
            return nil
        }
        #expect(error.code == .badRequest)
        return error.reason
    }

    @Test("NINFO-20: desired keys and arguments of types a push cannot carry are refused")
    func disallowedTypes() async throws {
        let bench = try await Bench()
        try await bench.makeZone("Notes")
        let location = WireLocation(latitude: 1, longitude: 2)
        try await bench.modify(
            .save(
                .create, "a",
                fields: [
                    "text": Field(.string("x")), "number": Field(.int64(1)),
                    "share": Field(.double(0.5)), "at": Field(.timestamp(1)),
                    "place": Field(.location(location)), "raw": Field(.bytes([1])),
                    "list": Field(.list(.stringList, [.string("x")])),
                    "other": Field(.reference(WireReference(recordName: "b"))),
                ]
            )
        )
        let good = Self.subscription {
            $0.desiredKeys = ["place", "other", "unknown"]
            $0.alert.localizationArgs = ["text", "number", "share", "at", "unknown"]
            $0.alert.titleLocalizationArgs = []
        }
        #expect(try await reason(good, on: bench) == nil)
        #expect(
            try await reason(Self.subscription { $0.desiredKeys = ["text", "raw"] }, on: bench)
                == "additionalFields names 'raw', which is of type BYTES in record type 'Note'; "
                + "a push carries DOUBLE, INT64, LOCATION, REFERENCE, STRING, TIMESTAMP there"
        )
        #expect(
            try await reason(
                Self.subscription { $0.alert.titleLocalizationArgs = ["place"] }, on: bench)
                == "titleLocalizationArgs names 'place', which is of type LOCATION in record type "
                + "'Note'; a push carries DOUBLE, INT64, STRING, TIMESTAMP there"
        )
        for field in ["list", "other", "raw"] {
            for bad in [
                Self.subscription { $0.alert.localizationArgs = [field] },
                Self.subscription { $0.alert.subtitleLocalizationArgs = [field] },
            ] {
                #expect(try await reason(bad, on: bench)?.contains("names '\(field)'") == true)
            }
        }
    }

    @Test("NINFO-15: a collapse ID is legal on query subscriptions only")
    func collapseIDs() async throws {
        let bench = try await Bench()
        try await bench.makeZone("Notes")
        #expect(
            try await reason(Self.subscription { $0.collapseIDKey = "thread" }, on: bench) == nil)
        for kind in [WireSubscription.Kind.zone, .database] {
            #expect(
                try await reason(
                    Self.subscription(kind) { $0.collapseIDKey = "thread" }, on: bench)
                    == "cannot add collapseId to this subscription type"
            )
        }
    }

    @Test("A notification info may take 64 KiB, and no byte more")
    func size() async throws {
        let bench = try await Bench()
        let frame = #"{"alertBody":""}"#.utf8.count
        let limit = Limits().notificationInfoBytes
        let fits = String(repeating: "x", count: limit - frame)
        #expect(try await reason(Self.subscription { $0.alert.body = fits }, on: bench) == nil)
        #expect(
            try await reason(Self.subscription { $0.alert.body = fits + "x" }, on: bench)
                == "notificationInfo takes 65537 bytes as JSON; at most 65536 are stored, "
                + "and a push carries 4096 (notificationInfoBytes)"
        )
    }
}
