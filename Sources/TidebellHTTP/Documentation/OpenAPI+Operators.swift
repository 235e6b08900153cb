// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellWire

extension OpenAPI {
    /// Endpoints for operators, and for those who test.
    static let operators: [Row] = [
        (
            ExplainPush.self,
            EndpointDocumentation(
                summary: "Explains to the operator why a push came or not; an extension.",
                response: .json(.map(of: .any)))
        ),
        (
            ExplainQuery.self,
            EndpointDocumentation(
                summary: "Says how a query is answered, to the operator; an extension.",
                request: .json(
                    .object([
                        .optional(
                            "database",
                            .nullable(.oneOf(DatabaseScope.allCases.map(\.rawValue))),
                            "Private without one."),
                        .optional("user", .nullable(.string), "The account that asks."),
                        .needed("request", .any, "The body of records/query."),
                    ])),
                response: .json(
                    .object([
                        .needed(
                            "zones",
                            .array(
                                of: .object([
                                    .needed("zone", .string),
                                    .needed("source", .oneOf(["scan", "index"])),
                                    .optional("index", .string, "What it is of."),
                                    .needed("reason", .string),
                                    .needed("entries", .integer, "Looked at, of the index."),
                                    .needed("records", .integer, "Looked at."),
                                    .needed("found", .integer, "Records that passed."),
                                ]))),
                        .needed("wishes", .array(of: .string), "Indexes that would help."),
                        .needed("moreComing", .bool),
                        .optional("refusal", .string, "Where it looked at too much."),
                    ])), statuses: [404])
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
                summary: "Makes the next requests to a server for tests fail; an extension.",
                request: .json(.object([.optional("faults", .nullable(.array(of: fault)))])),
                response: .json(.object([.needed("faults", .array(of: fault), "Those to come.")])))
        ),
        (
            ListServerKeys.self,
            EndpointDocumentation(
                summary: "Lists the server-to-server keys, for the operator; an extension.",
                response: .json(serverKeys))
        ),
        (
            RevokeServerKey.self,
            EndpointDocumentation(
                summary: "Revokes a server-to-server key, for the operator; an extension.",
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
                summary:
                    "Gives development production's schema and removes its data, for the operator; "
                    + "an extension.",
                request: .json(
                    .object([
                        .optional(
                            "continuationMarker", .nullable(.string),
                            "Of the answer before, which had not removed all.")
                    ])),
                response: .json(
                    .object([
                        .needed("changes", .array(of: .string), "Of the schema, a line each."),
                        .optional(
                            "warnings", .array(of: .string),
                            "Of subscriptions that fire no more by it, and why."),
                        .needed("zones", .integer, "How many were deleted."),
                        .needed("records", .integer, "How many went."),
                        .optional("continuationMarker", .string, "Ask again with it."),
                    ])))
        ),
    ]

    private static let schemaFile = EndpointDocumentation.Body.json(
        .object([.needed("schema", .string, "In the CloudKit Schema Language.")]))

    private static let schemaChanges: JSONSchema = .object([
        .needed("changes", .array(of: .string), "A line each: + comes, - goes."),
        .needed("refused", .array(of: .string), "Why a deployment would be refused."),
        .needed("kept", .array(of: .string), "What production alone has."),
        .optional(
            "warnings", .array(of: .string),
            "Subscriptions that do not fire by it, fields that could not be saved, and why."),
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
}
