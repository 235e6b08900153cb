// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellWire

extension OpenAPI {
    /// What is said of each endpoint; a test holds this against the table of endpoints.
    static let documentation: [ObjectIdentifier: EndpointDocumentation] = Dictionary(
        uniqueKeysWithValues: (records + zones + others + server).map {
            (ObjectIdentifier($0.0), $0.1)
        }
    )

    private typealias Row = (any WireEndpoint.Type, EndpointDocumentation)

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
                summary: "Returns files of records so that other records can have them, too.",
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
                summary: "Makes and deletes zones.",
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
                summary: "Returns what shares are, without joining them.", request: .json(shares),
                response: .json(.results("results", .named("ShareMetadata"))))
        ),
        (
            AcceptShares.self,
            EndpointDocumentation(
                summary: "Joins shares.", request: .json(shares),
                response: .json(.results("results", .named("ShareMetadata"))), statuses: [413])
        ),
        (
            RequestShareAccess.self,
            EndpointDocumentation(
                summary: "Asks those who manage shares to be let in; an extension.",
                request: .json(shares),
                response: .json(
                    .results("results", .object([.needed("shortGUID", .named("ShortGUID"))]))))
        ),
        (
            FetchCaller.self,
            EndpointDocumentation(
                summary: "Returns who is signed in.", request: .json(.object([])),
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
                summary: "Finds users who permit it, by e-mail addresses.",
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
                summary: "Returns nobody: the server knows no contacts.",
                request: .json(.object([])),
                response: .json(users))
        ),
        (
            DiscoverUsers.self,
            EndpointDocumentation(
                summary: "Finds users who permit it; by GET nobody.",
                request: .json(
                    .object([JSONSchema.list("lookupInfos", of: .named("LookupInfo"))])),
                response: .json(users))
        ),
        (
            CreateToken.self,
            EndpointDocumentation(
                summary: "Makes a push token of a web page.", request: .json(tokens),
                response: .json(.named("PushToken")))
        ),
        (
            RegisterToken.self,
            EndpointDocumentation(
                summary: "Lets a push token receive the pushes of the container.",
                request: .json(.anyOf([tokens])),
                response: .json(.anyOf([.named("PushToken"), .object([])])))
        ),
        (
            SignIn.self,
            EndpointDocumentation(
                summary: "Signs in with a password, or the web token of the request; an extension.",
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
                summary: "Makes a code that a device shows for its sign-in; an extension.",
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
                summary: "Asks whether the code of a device was entered; an extension.",
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
                summary: "Makes a web token for another API token; an extension.",
                request: .json(.object([.needed("apiToken", .string)])),
                response: .json(.object([.needed("webAuthToken", .string)])))
        ),
        (
            ModifyPermission.self,
            EndpointDocumentation(
                summary: "Reads or decides whether others may find the caller; an extension.",
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
                summary: "Notes how far the device has read; an extension.",
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
                summary: "Notes that pushes were read; an extension.",
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
                summary: "Sets the badge's number; an extension.",
                request: .json(.object([.needed("value", .integer)])), response: .json(.object([])))
        ),
        (
            ExplainPush.self,
            EndpointDocumentation(
                summary: "Says why a push came or not, to the operator; an extension.",
                response: .json(.map(of: .any)))
        ),
        (
            AddServerKey.self,
            EndpointDocumentation(
                summary: "Adds a server-to-server key, for the operator; an extension.",
                request: .json(
                    .object([
                        .needed("publicKey", .string, "P-256, in PEM."),
                        .optional("name", .nullable(.string)),
                        .optional("days", .nullable(.integer), "How long it is good."),
                    ])), response: .json(serverKeys), statuses: [409])
        ),
        (
            MoveClock.self,
            EndpointDocumentation(
                summary: "Moves the time of a server for tests; an extension.",
                request: .json(
                    .object([
                        .optional("advance", .nullable(.number), "Seconds; nothing only asks.")
                    ])),
                response: .json(.object([.needed("now", .integer, "Milliseconds since 1970.")])))
        ),
        (
            InjectFaults.self,
            EndpointDocumentation(
                summary: "Lets the next requests to a server for tests fail; an extension.",
                request: .json(.object([.optional("faults", .nullable(.array(of: fault)))])),
                response: .json(.object([.needed("faults", .array(of: fault), "Those to come.")])))
        ),
        (
            ListServerKeys.self,
            EndpointDocumentation(
                summary: "Returns the server-to-server keys, to the operator; an extension.",
                response: .json(serverKeys))
        ),
        (
            RevokeServerKey.self,
            EndpointDocumentation(
                summary: "Ends a server-to-server key, for the operator; an extension.",
                request: .json(.object([.needed("keyID", .string)])), response: .json(serverKeys))
        ),
        (
            ExportSchema.self,
            EndpointDocumentation(
                summary: "Returns the schema as a .ckdb file, to the operator; an extension.",
                response: .json(.object([.needed("schema", .string)])))
        ),
        (
            ImportSchema.self,
            EndpointDocumentation(
                summary: "Gives development the schema of a file, for the operator; an extension.",
                request: schemaFile, response: .json(schemaChanges))
        ),
        (
            ValidateSchema.self,
            EndpointDocumentation(
                summary: "Returns what an import would change, to the operator; an extension.",
                request: schemaFile, response: .json(schemaChanges))
        ),
        (
            DiffSchema.self,
            EndpointDocumentation(
                summary: "Returns what a deployment would do, to the operator; an extension.",
                response: .json(schemaChanges))
        ),
        (
            CheckSchema.self,
            EndpointDocumentation(
                summary:
                    "Returns what development used and production lacks, to the operator; an extension.",
                request: .json(
                    .object([
                        .optional(
                            "schema", .nullable(.string), "In place of production's, a file's.")
                    ])),
                response: .json(.object([.needed("missing", .array(of: .string))])))
        ),
        (
            DeploySchema.self,
            EndpointDocumentation(
                summary:
                    "Deploys development's schema to production, for the operator; an extension.",
                response: .json(schemaChanges))
        ),
        (
            ListDeployments.self,
            EndpointDocumentation(
                summary: "Returns who deployed what and when, to the operator; an extension.",
                response: .json(
                    .object([
                        .needed(
                            "deployments",
                            .array(
                                of: .object([
                                    .needed("number", .integer),
                                    .needed("deployedAt", .integer, "Milliseconds since 1970."),
                                    .needed("author", .string),
                                    .needed("changes", .array(of: .string)),
                                ])))
                    ])))
        ),
        (
            IndexField.self,
            EndpointDocumentation(
                summary: "Adds indexes to a field in development, for the operator; an extension.",
                request: .json(
                    .object([
                        .needed("recordType", .string), .needed("fieldName", .string),
                        .needed(
                            "indexes", .array(of: .oneOf(FieldIndexes.words.map(\.word))),
                            "At least one."),
                    ])), response: .json(schemaChanges), statuses: [404])
        ),
        (
            ResetSchema.self,
            EndpointDocumentation(
                summary: "Gives development production's schema, for the operator; an extension.",
                response: .json(schemaChanges))
        ),
    ]

    private static let schemaFile = EndpointDocumentation.Body.json(
        .object([.needed("schema", .string, "In the CloudKit Schema Language.")]))

    private static let schemaChanges: JSONSchema = .object([
        .needed("changes", .array(of: .string), "A line each: + comes, - goes."),
        .needed("refused", .array(of: .string), "Why a deployment would be refused."),
        .needed("kept", .array(of: .string), "What production alone has."),
        .optional("number", .integer, "Of the deployment that was done."),
    ])

    /// An error that requests get instead of their answer.
    private static let fault: JSONSchema = .object([
        .needed("serverErrorCode", .oneOf(ServerErrorCode.allCases.map(\.rawValue))),
        .optional("action", .nullable(.string), "Such as records/modify; all without one."),
        .optional("container", .nullable(.string), "All without one."),
        .optional("ckCode", .nullable(.integer), "For clients with the extensions."),
        .optional("reason", .nullable(.string)),
        .optional("retryAfter", .nullable(.number), "In seconds."),
        .optional("times", .nullable(.integer), "How many requests get it; one."),
        .optional("afterWork", .nullable(.bool), "What is asked for is done before."),
    ])

    private static let serverKeys: JSONSchema = .object([
        .needed(
            "keys",
            .array(
                of: .object([
                    .needed("keyID", .string), .needed("name", .string),
                    .needed("createdAt", .integer), .optional("usedAt", .integer),
                    .optional("expiresAt", .integer),
                ])))
    ])

    private static let server: [Row] = [
        (
            ReportHealth.self,
            EndpointDocumentation(
                summary: "Reports whether the server answers and can read.",
                response: .json(.object([.needed("status", .oneOf(["ok"]))])))
        ),
        (
            ReportReadiness.self,
            EndpointDocumentation(
                summary: "Reports whether the server can write.",
                response: .json(.object([.needed("status", .oneOf(["ready"]))])))
        ),
        (
            ReportVersion.self,
            EndpointDocumentation(
                summary: "Reports the server's version.",
                response: .json(
                    .object([.needed("name", .oneOf(["tidebell"])), .needed("version", .string)])))
        ),
        (
            ReportMetrics.self,
            EndpointDocumentation(
                summary: "What the server counts, for Prometheus.",
                response: .bytes(["text/plain"]))
        ),
        (
            ShowWelcome.self,
            EndpointDocumentation(
                summary: "A page about the server.", response: .bytes(["text/html"]))
        ),
        (
            SendScript.self,
            EndpointDocumentation(
                summary: "The client for web pages, a module of JavaScript.",
                response: .bytes(["text/javascript"]), statuses: [304])
        ),
        (
            SendOpenAPI.self,
            EndpointDocumentation(
                summary: "This description.", response: .json(.map(of: .any)), statuses: [304])
        ),
        (
            SendReference.self,
            EndpointDocumentation(
                summary: "What a developer of a client has to know.",
                response: .bytes(["text/plain", "text/html"]), statuses: [304])
        ),
        (
            PollCourier.self,
            EndpointDocumentation(
                summary:
                    "Waits for the next push of a token; the answer is empty after 55 seconds.",
                response: .json(
                    .object([.needed("aps", .map(of: .any)), .needed("ck", .map(of: .any))])),
                statuses: [404, 429], arguments: ["capability"])
        ),
        (
            ShowShare.self,
            EndpointDocumentation(
                summary: "The page behind a share's URL.",
                request: .bytes(["application/x-www-form-urlencoded"]),
                response: .bytes(["text/html"]), statuses: [303, 401, 403, 404, 429],
                arguments: ["shortGUID"])
        ),
        (
            ShowSignIn.self,
            EndpointDocumentation(
                summary: "The page that the redirectURL of a 421 leads to.",
                request: .bytes(["application/x-www-form-urlencoded"]),
                response: .bytes(["text/html"]), statuses: [303, 401, 403, 404, 409],
                parameters: [
                    ("container", "The app's container."), ("environment", "And its environment."),
                    (WireProtocol.apiToken, "The app."),
                    ("origin", "The origin of the page that opened this one."),
                    ("mode", "'sign-up' for the form of new users."),
                ])
        ),
        (
            FinishSignIn.self,
            EndpointDocumentation(
                summary: "Where an identity provider sends the browser back to.",
                response: .bytes(["text/html"]), statuses: [303, 401, 403, 404],
                parameters: [
                    ("state", "What was sent along."), ("code", "What the sign-in is proved by."),
                    ("error", "Why there is none."),
                ])
        ),
        (
            ShowDeviceSignIn.self,
            EndpointDocumentation(
                summary: "The page on which somebody enters the code that a device shows.",
                request: .bytes(["application/x-www-form-urlencoded"]),
                response: .bytes(["text/html"]), statuses: [401, 403, 404],
                parameters: [("code", "The code that the device shows.")])
        ),
        (
            ShowAccount.self,
            EndpointDocumentation(
                summary: "The page on which users see and end where they are signed in.",
                request: .bytes(["application/x-www-form-urlencoded"]),
                response: .bytes(["text/html"]), statuses: [303, 401, 403, 404])
        ),
        (
            ShowPasswordReset.self,
            EndpointDocumentation(
                summary: "The page behind an operator's link, for a new password.",
                request: .bytes(["application/x-www-form-urlencoded"]),
                response: .bytes(["text/html"]), statuses: [401, 403, 404, 429],
                arguments: ["secret"])
        ),
        (
            ReceiveAsset.self,
            EndpointDocumentation(
                summary: "Takes the bytes of a file.",
                request: .bytes(["application/octet-stream"]),
                response: .json(.object([.needed("singleFile", .named("Asset"))])),
                statuses: [401, 403, 404, 409, 413, 421, 429], arguments: ["token"])
        ),
        (
            SendAsset.self,
            EndpointDocumentation(
                summary: "Returns the bytes of a file, or a part of it.",
                response: .bytes(["application/octet-stream"]),
                statuses: [206, 304, 403, 404, 412, 416, 429], arguments: ["token", "fileName"])
        ),
    ]
}
