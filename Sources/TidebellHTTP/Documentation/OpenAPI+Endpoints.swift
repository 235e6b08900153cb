// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellWire

extension OpenAPI {
    /// What is said of each endpoint, by topic; a test holds this against the table of endpoints.
    static let documentation: [ObjectIdentifier: EndpointDocumentation] = Dictionary(
        uniqueKeysWithValues: (records + zones + others + operators + server).map {
            (ObjectIdentifier($0.0), $0.1)
        }
    )

    typealias Row = (any WireEndpoint.Type, EndpointDocumentation)

    private static let zone = JSONSchema.named("Zone")
    private static let record = JSONSchema.named("Record")
    private static let tombstone = JSONSchema.named("Tombstone")

    private static let records: [Row] = [
        (
            QueryRecords.self,
            EndpointDocumentation(
                summary: "Finds records, a page at a time.",
                request: .json(
                    .members(
                        [
                            .needed("query", .named("Query")),
                            .optional("zoneID", .nullable(.named("ZoneID"))),
                            .optional(
                                "zoneWide", .nullable(.bool), "Whether all zones are searched."),
                            .optional(
                                "continuationMarker", .nullable(.string),
                                "Of the page before; the rest of the request is the same."),
                        ], JSONSchema.pageOptions, JSONSchema.keyOptions)),
                response: .json(
                    .object([
                        .needed("records", .array(of: .anyOf([record, .named("ItemError")]))),
                        .optional("continuationMarker", .string, "Missing on the last page."),
                        .optional("syncToken", .string),
                    ])))
        ),
        (
            ModifyRecords.self,
            EndpointDocumentation(
                summary: "Saves and deletes records of one zone.",
                request: .json(
                    .members(
                        [
                            JSONSchema.list(
                                "operations",
                                of: .object([
                                    .needed(
                                        "operationType",
                                        .oneOf(
                                            ModifyRecords.OperationType.allCases.map(\.rawValue))),
                                    .needed("record", .named("SavedRecord")),
                                    .optional("desiredKeys", .nullable(.array(of: .string))),
                                ])),
                            .optional(
                                "atomic", .nullable(.bool),
                                "Whether all or none are done; true where it is missing and the zone can."
                            ),
                        ], JSONSchema.zoneOptions, JSONSchema.keyOptions)),
                response: .json(
                    .object([
                        .needed(
                            "records", .array(of: .anyOf([record, tombstone, .named("ItemError")]))),
                        .optional("syncToken", .string),
                    ])), statuses: [409, 412, 413])
        ),
        (
            LookupRecords.self,
            EndpointDocumentation(
                summary: "Returns records by their names.",
                request: .json(
                    .members(
                        [
                            JSONSchema.list(
                                "records",
                                of: .object([
                                    .needed("recordName", .string),
                                    .optional("desiredKeys", .nullable(.array(of: .string))),
                                ]))
                        ], JSONSchema.zoneOptions, JSONSchema.keyOptions)),
                response: .json(
                    .object([
                        .needed("records", .array(of: .anyOf([record, .named("ItemError")]))),
                        .optional("syncToken", .string),
                    ])))
        ),
        (
            FetchRecordChanges.self,
            EndpointDocumentation(
                summary: "Returns what changed in a zone since a token; changes/zone is newer.",
                request: .json(
                    .members(
                        [
                            .needed("zoneID", .named("ZoneID")),
                            .optional("syncToken", .nullable(.string)),
                        ], JSONSchema.changeOptions)),
                response: .json(
                    .object([
                        .needed("records", .array(of: .anyOf([record, tombstone]))),
                        .needed("syncToken", .string),
                        .needed("moreComing", .bool),
                        .optional("reverse", .bool),
                    ])))
        ),
        (
            FetchZoneChanges.self,
            EndpointDocumentation(
                summary: "Returns what changed in zones since their tokens.",
                request: .json(
                    .members(
                        [
                            JSONSchema.list(
                                "zones",
                                of: .members(
                                    [
                                        .needed("zoneID", .named("ZoneID")),
                                        .optional("syncToken", .nullable(.string)),
                                    ], JSONSchema.changeOptions))
                        ], JSONSchema.changeOptions)),
                response: .json(
                    .results(
                        "zones",
                        .object([
                            .needed("zoneID", .named("ZoneID")),
                            .needed("syncToken", .string),
                            .needed("moreComing", .bool),
                            .needed("records", .array(of: .anyOf([record, tombstone]))),
                        ]))))
        ),
        (
            UploadAssets.self,
            EndpointDocumentation(
                summary: "Returns URLs to send files to, each for one field of a record.",
                request: .json(
                    .members(
                        [
                            JSONSchema.list(
                                "tokens",
                                of: .object([
                                    .optional("recordName", .nullable(.string)),
                                    .needed("recordType", .string),
                                    .needed("fieldName", .string),
                                ]))
                        ], JSONSchema.zoneOptions)),
                response: .json(
                    .object([
                        .needed(
                            "tokens",
                            .array(
                                of: .object([
                                    .needed("recordName", .string), .needed("fieldName", .string),
                                    .needed("url", .string),
                                ])))
                    ])), statuses: [413])
        ),
        (
            RereferenceAssets.self,
            EndpointDocumentation(
                summary:
                    "Returns values by which other records get files that were uploaded before.",
                request: .json(
                    .members(
                        [
                            JSONSchema.list(
                                "assets",
                                of: .object([
                                    .needed("recordName", .string), .needed("fieldName", .string),
                                ])),
                            .optional("targetZoneID", .nullable(.named("ZoneID"))),
                        ], JSONSchema.zoneOptions)),
                response: .json(.results("assets", .named("Asset"))))
        ),
    ]

    private static let zones: [Row] = [
        (
            ListZones.self,
            EndpointDocumentation(
                summary: "Returns all zones of the database.", request: .json(.object([])),
                response: .json(.object([.needed("zones", .array(of: zone))])))
        ),
        (
            LookupZones.self,
            EndpointDocumentation(
                summary: "Returns zones by their IDs.",
                request: .json(.object([JSONSchema.list("zones", of: .named("ZoneID"))])),
                response: .json(.results("zones", zone)))
        ),
        (
            ModifyZones.self,
            EndpointDocumentation(
                summary: "Creates and deletes zones.",
                request: .json(
                    .object([
                        JSONSchema.list(
                            "operations",
                            of: .object([
                                .needed("operationType", .oneOf(["create", "delete"])),
                                .needed("zone", .object([.needed("zoneID", .named("ZoneID"))])),
                            ]))
                    ])),
                response: .json(.results("zones", zone)), statuses: [413])
        ),
        (
            FetchChangedZones.self,
            EndpointDocumentation(
                summary: "Returns the zones that changed since a token; changes/database is newer.",
                request: .json(
                    .members(
                        [.optional("metaSyncToken", .nullable(.string))], JSONSchema.pageOptions)),
                response: .json(
                    .object([
                        .needed("zones", .array(of: zone)), .needed("metaSyncToken", .string),
                        .needed("moreComing", .bool),
                    ])))
        ),
        (
            FetchDatabaseChanges.self,
            EndpointDocumentation(
                summary: "Returns the zones that changed since a token.",
                request: .json(
                    .members([.optional("syncToken", .nullable(.string))], JSONSchema.pageOptions)),
                response: .json(
                    .object([
                        .needed("zones", .array(of: zone)), .needed("syncToken", .string),
                        .needed("moreComing", .bool),
                    ])))
        ),
        (
            ListSubscriptions.self,
            EndpointDocumentation(
                summary: "Returns the caller's subscriptions.", request: .json(.object([])),
                response: .json(
                    .object([.needed("subscriptions", .array(of: .named("Subscription")))])))
        ),
        (
            LookupSubscriptions.self,
            EndpointDocumentation(
                summary: "Returns subscriptions by their IDs.",
                request: .json(
                    .object([
                        JSONSchema.list(
                            "subscriptions", of: .object([.needed("subscriptionID", .string)]))
                    ])),
                response: .json(.results("subscriptions", .named("Subscription"))))
        ),
        (
            ModifySubscriptions.self,
            EndpointDocumentation(
                summary: "Saves and deletes subscriptions.",
                request: .json(
                    .object([
                        JSONSchema.list(
                            "operations",
                            of: .object([
                                .needed("operationType", .oneOf(["create", "update", "delete"])),
                                .needed("subscription", .named("Subscription")),
                            ]))
                    ])),
                response: .json(.results("subscriptions", .named("Subscription"))),
                statuses: [413])
        ),
    ]

    private static let users = JSONSchema.object([
        .needed("users", .array(of: .named("UserIdentity")))
    ])
    private static let shares = JSONSchema.object([
        JSONSchema.list("shortGUIDs", of: .named("ShortGUID"))
    ])
    private static let tokens = JSONSchema.object([
        .needed("apnsEnvironment", .oneOf(["development", "production"])),
        .optional("clientId", .nullable(.string), "The device."),
        .optional("topic", .nullable(.string), "The bundle ID, of a device's token."),
    ])

    private static let others: [Row] = [
        (
            ResolveShares.self,
            EndpointDocumentation(
                summary: "Returns what is known of shares, without accepting them.",
                request: .json(shares),
                response: .json(.results("results", .named("ShareMetadata"))))
        ),
        (
            AcceptShares.self,
            EndpointDocumentation(
                summary: "Accepts shares: the caller becomes a participant.",
                request: .json(shares),
                response: .json(.results("results", .named("ShareMetadata"))), statuses: [413])
        ),
        (
            RequestShareAccess.self,
            EndpointDocumentation(
                summary: "Asks for access to shares; an extension.",
                request: .json(shares),
                response: .json(
                    .results("results", .object([.needed("shortGUID", .named("ShortGUID"))]))))
        ),
        (
            FetchCaller.self,
            EndpointDocumentation(
                summary: "Returns the user who is signed in.", request: .json(.object([])),
                response: .json(.object([.needed("userRecordName", .string)])))
        ),
        (
            LookupUsers.self,
            EndpointDocumentation(
                summary: "Returns users by their record names.",
                request: .json(
                    .object([
                        JSONSchema.list("users", of: .object([.needed("userRecordName", .string)]))
                    ])), response: .json(users))
        ),
        (
            LookupUsersByEmail.self,
            EndpointDocumentation(
                summary: "Finds users by e-mail addresses, if they allow it.",
                request: .json(
                    .object([
                        JSONSchema.list("users", of: .object([.needed("emailAddress", .string)]))
                    ])),
                response: .json(
                    .object([
                        .needed(
                            "users",
                            .array(
                                of: .object([
                                    .needed("userRecordName", .string),
                                    .needed("emailAddress", .string),
                                ])))
                    ])))
        ),
        (
            LookupContacts.self,
            EndpointDocumentation(
                summary: "Returns an empty list: the server knows no contacts.",
                request: .json(.object([])),
                response: .json(users))
        ),
        (
            DiscoverUsers.self,
            EndpointDocumentation(
                summary: "Finds users who allow it; GET returns an empty list.",
                request: .json(
                    .object([JSONSchema.list("lookupInfos", of: .named("LookupInfo"))])),
                response: .json(users))
        ),
        (
            CreateToken.self,
            EndpointDocumentation(
                summary: "Creates a push token and a courier for a web client.",
                request: .json(tokens),
                response: .json(.named("PushToken")))
        ),
        (
            RegisterToken.self,
            EndpointDocumentation(
                summary: "Registers a push token for the pushes of the container.",
                request: .json(.anyOf([tokens])),
                response: .json(.anyOf([.named("PushToken"), .object([])])))
        ),
        (
            SignIn.self,
            EndpointDocumentation(
                summary:
                    "Signs a device in, by a password or the request's web token; an extension.",
                request: .json(
                    .object([
                        .optional("user", .nullable(.string)),
                        .optional("password", .nullable(.string)),
                    ])),
                response: .json(
                    .object([
                        .needed("webAuthToken", .string), .needed("userRecordName", .string),
                        .needed("user", .string),
                    ])))
        ),
        (
            BeginDeviceSignIn.self,
            EndpointDocumentation(
                summary: "Returns a code that a device shows for its sign-in; an extension.",
                request: .json(.object([.optional("deviceName", .nullable(.string))])),
                response: .json(
                    .object([
                        .needed("deviceCode", .string, "What the device asks with."),
                        .needed("userCode", .string, "What it shows."),
                        .needed("verificationURL", .string, "Where that is entered."),
                        .needed("expiresIn", .integer, "In seconds."),
                        .needed("interval", .integer, "Seconds between two questions."),
                    ])))
        ),
        (
            FinishDeviceSignIn.self,
            EndpointDocumentation(
                summary: "Returns a web token once a device's code was entered; an extension.",
                request: .json(.object([.needed("deviceCode", .string)])),
                response: .json(
                    .anyOf([
                        .object([.needed("pending", .bool)]),
                        .object([
                            .needed("webAuthToken", .string), .needed("userRecordName", .string),
                            .needed("user", .string),
                        ]),
                    ])))
        ),
        (
            SignOut.self,
            EndpointDocumentation(
                summary: "Ends the session of the request's web token; an extension.",
                request: .json(.object([])), response: .json(.object([])))
        ),
        (
            FetchWebAuthToken.self,
            EndpointDocumentation(
                summary: "Creates a web token for another API token; an extension.",
                request: .json(.object([.needed("apiToken", .string)])),
                response: .json(.object([.needed("webAuthToken", .string)])))
        ),
        (
            ModifyPermission.self,
            EndpointDocumentation(
                summary: "Reads or sets whether others can find the caller; an extension.",
                request: .json(
                    .object([
                        .needed("permission", .oneOf(["userDiscoverability"])),
                        .optional(
                            "action", .oneOf(["read", "request", "grant", "deny", "reset"])),
                    ])),
                response: .json(.object([.optional("answer", .oneOf(["granted", "denied"]))])))
        ),
        (
            StreamNotifications.self,
            EndpointDocumentation(
                summary: "Sends each push of the device as a server-sent event; an extension.",
                response: .bytes(["text/event-stream"]),
                parameters: [
                    (
                        "cursor",
                        "The newest event the device has; also as the header Last-Event-ID."
                    ),
                    ("payload", "'apns' for payloads cut as Apple's push service has them."),
                ])
        ),
        (
            AcknowledgeNotifications.self,
            EndpointDocumentation(
                summary: "Acknowledges the pushes that a device has read; an extension.",
                request: .json(.object([.needed("cursor", .string)])), response: .json(.object([])))
        ),
        (
            FetchNotificationChanges.self,
            EndpointDocumentation(
                summary: "Returns the user's past pushes; an extension.",
                request: .json(
                    .members(
                        [.optional("serverChangeToken", .nullable(.string))], JSONSchema.pageOptions
                    )),
                response: .json(
                    .object([
                        .needed(
                            "notifications",
                            .array(
                                of: .object([
                                    .needed("notificationID", .string), .needed("read", .bool),
                                    .needed("payload", .map(of: .any)),
                                ]))),
                        .needed("serverChangeToken", .string), .needed("moreComing", .bool),
                    ])))
        ),
        (
            MarkNotificationsRead.self,
            EndpointDocumentation(
                summary: "Marks notifications as read; an extension.",
                request: .json(.object([JSONSchema.list("notificationIDs", of: .string)])),
                response: .json(
                    .object([
                        .needed("notificationIDs", .array(of: .string)),
                        .optional("failed", .array(of: .map(of: .any))),
                    ])))
        ),
        (
            ModifyBadge.self,
            EndpointDocumentation(
                summary: "Sets the number of the app's badge; an extension.",
                request: .json(.object([.needed("value", .integer)])), response: .json(.object([])))
        ),
    ]
}
