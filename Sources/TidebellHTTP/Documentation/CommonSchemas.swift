// SPDX-License-Identifier: Apache-2.0
import TidebellWire

extension JSONSchema {
    /// The values that several endpoints have in common, by name (web-services 4).
    static let common: [(name: String, schema: JSONSchema)] = [
        (
            "Error",
            .object([
                .needed("uuid", .string, "The name of the request in the server's log."),
                .needed("serverErrorCode", .oneOf(ServerErrorCode.allCases.map(\.rawValue))),
                .needed("reason", .string, "What is wrong, in a sentence for developers."),
                .optional("retryAfter", .number, "After how many seconds to try again."),
                .optional("redirectURL", .string, "Where the user signs in."),
            ])
        ),
        (
            "ItemError",
            .object([
                .needed("serverErrorCode", .oneOf(ServerErrorCode.allCases.map(\.rawValue))),
                .needed("reason", .string),
                .optional("retryAfter", .number),
                .optional("redirectURL", .string),
                .optional("recordName", .string),
                .optional("zoneID", .named("ZoneID")),
                .optional("subscriptionID", .string),
                .optional("shortGUID", .named("ShortGUID")),
            ])
        ),
        (
            "ZoneID",
            .object([
                .needed("zoneName", .string, "'_defaultZone' is the one that is always there."),
                .optional("ownerRecordName", .nullable(.string), "The caller where it is missing."),
                .optional("zoneType", .nullable(.string)),
            ])
        ),
        (
            "Zone",
            .object([
                .needed("zoneID", .named("ZoneID")),
                .optional("syncToken", .string),
                .optional("atomic", .bool),
                .optional("deleted", .bool),
                .optional("share", .object([.needed("recordName", .string)])),
            ])
        ),
        (
            "Field",
            .object([
                .optional("value", .any),
                .optional(
                    "type", .nullable(.named("FieldType")),
                    "On writes it may be missing where the value or the schema tells it."),
                .optional("isEncrypted", .nullable(.bool)),
            ])
        ),
        ("FieldType", .oneOf(FieldType.allCases.map(\.rawValue) + ["ASSET", "ASSET_LIST"])),
        ("Fields", .map(of: .named("Field"))),
        (
            "Moment",
            .object([
                .needed("timestamp", .integer, "Milliseconds since 1970."),
                .needed("userRecordName", .string),
                .needed("deviceID", .string),
            ])
        ),
        (
            "Record",
            .object([
                .needed("recordName", .string),
                .needed("recordType", .string),
                .needed("fields", .named("Fields")),
                .needed("pluginFields", .map(of: .any)),
                .needed("recordChangeTag", .string),
                .needed("created", .named("Moment")),
                .needed("modified", .named("Moment")),
                .needed("deleted", .bool),
                .needed("zoneID", .named("ZoneID")),
                .optional("parent", .object([.needed("recordName", .string)])),
                .optional("shortGUID", .string, "The last part of the share's URL."),
                .optional("share", .any),
                .optional("publicPermission", .string),
                .optional("participants", .array(of: .named("Participant"))),
                .optional("owner", .named("Participant")),
                .optional("currentUserParticipant", .named("Participant")),
            ])
        ),
        (
            "Tombstone",
            .object([
                .needed("recordName", .string), .needed("deleted", .bool),
                .optional("zoneID", .named("ZoneID")),
            ])
        ),
        (
            "SavedRecord",
            .object([
                .optional("recordName", .nullable(.string)),
                .optional("recordType", .nullable(.string)),
                .optional("recordChangeTag", .nullable(.string)),
                .optional("fields", .nullable(.named("Fields"))),
                .optional("parent", .nullable(.object([.needed("recordName", .string)]))),
                .optional("createShortGUID", .nullable(.bool)),
                .optional(
                    "forRecord",
                    .nullable(
                        .object([
                            .needed("recordName", .string), .optional("recordChangeTag", .string),
                        ])), "The root of a share that is made."),
                .optional("publicPermission", .nullable(.string)),
                .optional("participants", .nullable(.array(of: .named("Participant")))),
            ])
        ),
        (
            "Query",
            .object([
                .needed("recordType", .string),
                .optional(
                    "filterBy",
                    .nullable(.array(of: .named("Filter"), atMost: WireFilter.countLimit))),
                .optional("sortBy", .nullable(.array(of: .named("Sort")))),
            ])
        ),
        (
            "Filter",
            .object([
                .needed("comparator", .oneOf(WireFilter.Comparator.allCases.map(\.rawValue))),
                .optional("fieldName", .string),
                .optional("systemFieldName", .string),
                .needed("fieldValue", .named("Field")),
                .optional("distance", .number, "Metres, of NEAR."),
            ])
        ),
        (
            "Sort",
            .object([
                .optional("fieldName", .string),
                .optional("systemFieldName", .string),
                .optional("ascending", .nullable(.bool)),
                .optional("relativeLocation", .nullable(.map(of: .any))),
            ])
        ),
        (
            "Subscription",
            .object([
                .needed("subscriptionID", .string),
                .optional(
                    "subscriptionType", .oneOf(WireSubscription.Kind.allCases.map(\.rawValue))),
                .optional("query", .named("Query")),
                .optional("recordType", .string),
                .optional("zoneID", .named("ZoneID")),
                .optional("zoneWide", .bool),
                .optional("firesOn", .array(of: .oneOf(["create", "update", "delete"]))),
                .optional("firesOnce", .bool),
                .optional("notificationInfo", .map(of: .any)),
                .optional("deleted", .bool),
            ])
        ),
        (
            "UserIdentity",
            .object([
                .optional("userRecordName", .string),
                .optional("nameComponents", .map(of: .string)),
                .optional("lookupInfo", .named("LookupInfo")),
            ])
        ),
        (
            "LookupInfo",
            .object([
                .optional("emailAddress", .string), .optional("phoneNumber", .string),
                .optional("userRecordName", .string),
            ])
        ),
        (
            "Participant",
            .object([
                .optional("participantId", .string),
                .optional("userIdentity", .named("UserIdentity")),
                .optional("permission", .string),
                .optional("type", .string),
                .optional("acceptanceStatus", .string),
            ])
        ),
        (
            "ShortGUID",
            .object([
                .needed("value", .string),
                .optional("shouldFetchRootRecord", .nullable(.bool)),
                .optional("rootRecordDesiredKeys", .nullable(.array(of: .string))),
            ])
        ),
        (
            "ShareMetadata",
            .object([
                .needed("shortGUID", .named("ShortGUID")),
                .needed("containerIdentifier", .string),
                .needed("environment", .string),
                .needed("databaseScope", .oneOf(["PRIVATE", "SHARED"])),
                .needed("zoneID", .named("ZoneID")),
                .optional("rootRecordName", .string),
                .optional("rootRecord", .named("Record")),
                .needed("share", .named("Record")),
                .needed("ownerIdentity", .named("UserIdentity")),
                .needed("participantPermission", .string),
                .needed("participantStatus", .string),
                .needed("participantType", .string),
            ])
        ),
        (
            "Asset",
            .object([
                .needed("fileChecksum", .string),
                .needed("size", .integer),
                .optional("receipt", .string),
                .optional("wrappingKey", .string),
                .optional("referenceChecksum", .string),
                .optional("downloadURL", .string, "'${f}' in it may be replaced by a file name."),
            ])
        ),
        (
            "PushToken",
            .object([
                .needed("apnsEnvironment", .oneOf(["development", "production"])),
                .needed("apnsToken", .string),
                .needed("webcourierURL", .string, "Where pushes are polled, by whoever knows it."),
            ])
        ),
    ]

    /// The results of a request: what was asked for, or why it is not there.
    static func results(_ name: String, _ schemas: JSONSchema...) -> JSONSchema {
        .object([.needed(name, .array(of: .anyOf(schemas + [.named("ItemError")])))])
    }

    /// A list of a request, one result for each of whose elements is answered.
    static func list(_ name: String, of schema: JSONSchema) -> Member {
        .needed(name, .array(of: schema, atMost: WireProtocol.itemLimit))
    }

    static let zoneOptions: [Member] = [
        .optional("zoneID", .nullable(.named("ZoneID")), "The default zone where it is missing.")
    ]
    static let keyOptions: [Member] = [
        .optional(
            "desiredKeys", .nullable(.array(of: .string)),
            "The fields wanted: all where it is missing, none where it is empty."),
        .optional("numbersAsStrings", .nullable(.bool), "Whether INT64 values are texts."),
    ]
    static let pageOptions: [Member] = [.optional("resultsLimit", .nullable(.integer))]
    static let changeOptions: [Member] = [pageOptions, keyOptions, orderOptions].flatMap(\.self)
    private static let orderOptions: [Member] = [
        .optional("desiredRecordTypes", .nullable(.array(of: .string))),
        .optional("reverse", .nullable(.bool), "Whether the newest change comes first."),
    ]

    /// An object with members of several lists.
    static func members(_ lists: [Member]...) -> JSONSchema { .object(lists.flatMap(\.self)) }
}
