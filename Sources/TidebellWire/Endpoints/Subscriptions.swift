// SPDX-License-Identifier: Apache-2.0

/// The answer of `subscriptions/list`, `lookup` and `modify`
/// (web-services 5.10).
package struct SubscriptionsResponse: WireBody, Hashable {
    package var subscriptions: [SubscriptionResult]

    /// Creates an answer.
    package init(subscriptions: [SubscriptionResult]) {
        self.subscriptions = subscriptions
    }

    /// Writes the answer.
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.key("subscriptions")
            writer.array(subscriptions) { $1.write(to: &$0) }
        }
    }

    /// Reads the answer.
    package init(from reader: inout JSONReader) throws {
        self.init(
            subscriptions: try reader.readMemberList("subscriptions") {
                try SubscriptionParts(from: &$0).result()
            }
        )
    }
}

/// `subscriptions/list` (web-services 5.10).
package enum ListSubscriptions: WireEndpoint {
    package typealias Request = EmptyBody
    package typealias Response = SubscriptionsResponse
    package static let route = WireRoute(
        .database("subscriptions/list"), by: .getOrPost, .reads)
}

/// `subscriptions/lookup`.
package enum LookupSubscriptions: WireEndpoint {
    package typealias Response = SubscriptionsResponse
    package static let route = WireRoute(.database("subscriptions/lookup"), .reads)

    /// The request.
    package struct Request: WireBody, Hashable {
        package var subscriptionIDs: [String]

        /// Creates a request.
        package init(subscriptionIDs: [String]) {
            self.subscriptionIDs = subscriptionIDs
        }

        /// Reads the request.
        package init(from reader: inout JSONReader) throws {
            subscriptionIDs = try reader.readMemberList("subscriptions") { reader in
                // OpenCloudKit sends bare IDs.
                if try reader.kind() == .string { return try reader.readName() }
                guard let id = try SubscriptionParts(from: &reader).subscriptionID else {
                    throw JSONError("missing required field 'subscriptionID'")
                }
                return id
            }
        }

        /// Writes the request.
        package func write(to writer: inout JSONWriter) {
            writer.object { writer in
                writer.key("subscriptions")
                writer.array(subscriptionIDs) { writer, id in
                    writer.object { $0.member("subscriptionID", id) }
                }
            }
        }
    }
}

/// `subscriptions/modify`.
package enum ModifySubscriptions: WireEndpoint {
    package typealias Response = SubscriptionsResponse
    package static let route = WireRoute(.database("subscriptions/modify"), .writes)

    /// One operation of a request.
    package enum Operation: Sendable, Hashable {
        /// Creates the subscription, or replaces the one with its ID (SUB-30).
        case create(WireSubscription)
        case update(WireSubscription)
        case delete(subscriptionID: String)

        /// The subscription's ID; empty when the request gave none.
        package var subscriptionID: String {
            switch self {
            case .create(let subscription), .update(let subscription):
                subscription.subscriptionID
            case .delete(let subscriptionID): subscriptionID
            }
        }
    }

    /// The request.
    package struct Request: WireBody, Hashable {
        package var operations: [Operation]

        /// Creates a request.
        package init(operations: [Operation]) {
            self.operations = operations
        }

        /// Reads the request.
        package init(from reader: inout JSONReader) throws {
            operations = try reader.readMemberList("operations") {
                try Operation(from: &$0)
            }
        }

        /// Writes the request.
        package func write(to writer: inout JSONWriter) {
            writer.object { writer in
                writer.key("operations")
                writer.array(operations) { $1.write(to: &$0) }
            }
        }
    }
}

extension ModifySubscriptions.Operation {
    fileprivate init(from reader: inout JSONReader) throws {
        var type: String?
        var parts: SubscriptionParts?
        try reader.readObject { reader, name in
            switch name {
            case "operationType": type = try reader.readName()
            case "subscription": parts = try SubscriptionParts(from: &reader)
            default: try reader.skipValue()
            }
        }
        guard let parts else { throw JSONError("missing required field 'subscription'") }
        switch type {
        case "create": self = .create(try parts.subscription())
        case "update": self = .update(try parts.subscription())
        case "delete":
            guard let id = parts.subscriptionID else {
                throw JSONError("missing required field 'subscriptionID'")
            }
            self = .delete(subscriptionID: id)
        case nil: throw JSONError("missing required field 'operationType'")
        case let other?: throw JSONError("unknown operation type \"\(other)\"")
        }
    }

    fileprivate func write(to writer: inout JSONWriter) {
        writer.object { writer in
            let (type, subscription): (String, WireSubscription?) =
                switch self {
                case .create(let subscription): ("create", subscription)
                case .update(let subscription): ("update", subscription)
                case .delete: ("delete", nil)
                }
            writer.member("operationType", type)
            writer.key("subscription")
            if let subscription {
                subscription.write(to: &writer)
            } else {
                writer.object { $0.member("subscriptionID", subscriptionID) }
            }
        }
    }
}
