// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire

@Suite("The CloudKit Schema Language")
struct SchemaTextTests {
    private static let schema = SchemaDefinition(
        roles: ["Editor"],
        types: [
            "Note": StoredRecordType(
                fields: [
                    "title": StoredField(.string), "size": StoredField(.int64, indexes: .sortable),
                    "tags": StoredField(.stringList, indexes: []),
                    "secret": StoredField(.string, isEncrypted: true),
                    "secrets": StoredField(.bytesList, isEncrypted: true),
                    "grant": StoredField(.asset), "place": StoredField(.location, indexes: []),
                ],
                systemIndexes: Dictionary(
                    uniqueKeysWithValues: SchemaSystemField.allCases.map {
                        ($0, $0 == .recordID ? .queryable : [])
                    }),
                grants: RecordGrants([
                    "_world": .read, "Editor": [.read, .create, .write],
                ])),
            "cloudkit.share": StoredRecordType(
                systemIndexes: Dictionary(
                    uniqueKeysWithValues: SchemaSystemField.allCases.map { ($0, []) }),
                grants: RecordGrants([:])),
        ])

    private static let text = """
        DEFINE SCHEMA

            CREATE ROLE Editor;

            RECORD TYPE Note (
                "___createTime" TIMESTAMP,
                "___createdBy" REFERENCE,
                "___etag" STRING,
                "___modTime" TIMESTAMP,
                "___modifiedBy" REFERENCE,
                "___recordID" REFERENCE QUERYABLE,
                "grant" ASSET,
                place LOCATION,
                secret ENCRYPTED STRING,
                secrets LIST<ENCRYPTED BYTES>,
                size INT64 SORTABLE,
                tags LIST<STRING>,
                title STRING QUERYABLE SORTABLE SEARCHABLE,
                GRANT READ, CREATE, WRITE TO Editor,
                GRANT READ TO "_world"
            );

            RECORD TYPE Users (
                "___createTime" TIMESTAMP,
                "___createdBy" REFERENCE,
                "___etag" STRING,
                "___modTime" TIMESTAMP,
                "___modifiedBy" REFERENCE,
                "___recordID" REFERENCE,
                roles LIST<INT64>,
                GRANT WRITE TO "_creator",
                GRANT READ TO "_world"
            );

            RECORD TYPE "cloudkit.share" (
                "___createTime" TIMESTAMP,
                "___createdBy" REFERENCE,
                "___etag" STRING,
                "___modTime" TIMESTAMP,
                "___modifiedBy" REFERENCE,
                "___recordID" REFERENCE
            );

        """

    @Test("A schema is written with its types, fields and grants in order, and read as the same")
    func roundTrip() throws {
        #expect(SchemaText.of(Self.schema) == Self.text)
        #expect(try SchemaParser.parse(Self.text).schema == Self.schema)
    }

    @Test("Keywords have any case, comments are skipped, and a word that is no keyword is a name")
    func variants() throws {
        let text = """
            // Made by hand.
            define schema -- with comments
            create role list; /* of more
            than a line */
            record type To (
                number number preferred as int64 sortable queryable,
                list List<Reference>, count NUMBER, "queryable" string,
                grant read, write to "_creator", grant create to list
            );
            """
        let schema = try SchemaParser.parse(text).schema
        #expect(
            schema
                == SchemaDefinition(
                    roles: ["list"],
                    types: [
                        "To": StoredRecordType(
                            fields: [
                                "number": StoredField(.int64, indexes: [.queryable, .sortable]),
                                "list": StoredField(.referenceList, indexes: []),
                                "count": StoredField(.double, indexes: []),
                                "queryable": StoredField(.string, indexes: []),
                            ], systemIndexes: [:],
                            grants: RecordGrants(["_creator": [.read, .write], "list": .create]))
                    ]))
    }

    @Test(
        "What is wrong is named with its line, its column and what was expected",
        arguments: [
            ("", "line 1, column 1: expected DEFINE, found the end of the file"),
            ("DEFINE SCHEME", "line 1, column 8: expected SCHEMA, found 'SCHEME'"),
            (
                "DEFINE SCHEMA\n  RECORD TYPE Note (\n    title STRNG\n  );",
                "line 3, column 11: expected a type: ASSET, BYTES, DOUBLE, INT64, LOCATION, "
                    + "REFERENCE, STRING, TIMESTAMP, LIST<...>, ENCRYPTED ..., found 'STRNG'; did "
                    + "you mean STRING?"
            ),
            (
                "DEFINE SCHEMA RECORD TYPE Note (a STRING b STRING);",
                "line 1, column 42: expected ',' or ')', or QUERYABLE, SORTABLE, SEARCHABLE, "
                    + "found 'b'"
            ),
            (
                "DEFINE SCHEMA RECORD TYPE Note (a STRING, a INT64);",
                "line 1, column 43: the field a stands in Note twice"
            ),
            (
                "DEFINE SCHEMA RECORD TYPE Note (); RECORD TYPE Note ();",
                "line 1, column 48: the record type Note stands here twice"
            ),
            (
                "DEFINE SCHEMA RECORD TYPE Note (a ENCRYPTED STRING QUERYABLE);",
                "line 1, column 52: the field a is encrypted, and cannot be QUERYABLE"
            ),
            (
                "DEFINE SCHEMA RECORD TYPE Note (a ENCRYPTED ASSET);",
                "line 1, column 45: ASSET fields cannot be encrypted"
            ),
            (
                "DEFINE SCHEMA RECORD TYPE Note (GRANT READ TO Editor);",
                "line 1, column 47: there is no role Editor; write CREATE ROLE Editor; before the "
                    + "record types, or grant to \"_world\", \"_icloud\" or \"_creator\""
            ),
            (
                "DEFINE SCHEMA RECORD TYPE Note (\"___recordID\" STRING);",
                "line 1, column 47: the field ___recordID is of type REFERENCE"
            ),
            (
                "DEFINE SCHEMA RECORD TYPE Note (sortable STRING);",
                "line 1, column 33: expected a field or GRANT, found the keyword sortable; a name "
                    + "is quoted: \"sortable\""
            ),
            (
                "DEFINE SCHEMA /* open",
                "line 1, column 15: the comment has no end; write */ behind it"
            ),
            (
                "DEFINE SCHEMA RECORD TYPE \"No\nte\" ();",
                "line 1, column 27: the quoted name has no end on its line"
            ),
            (
                "DEFINE SCHEMA RECORD TYPE N\u{F6}te ();",
                "line 1, column 28: a character that no schema has; names are letters, digits and "
                    + "underscores"
            ),
        ])
    func errors(text: String, problem: String) {
        do {
            _ = try SchemaParser.parse(text)
            Issue.record("\(text) was read")
        } catch {
            #expect(error.description == problem)
        }
    }

    @Test("LIMIT-20: a file has bounds: of its size, of roles, types and fields")
    func bounds() {
        var limits = Limits()
        (limits.recordTypesPerContainer, limits.fieldsPerType) = (2, 2)
        func problem(_ text: String) -> String? {
            do {
                _ = try SchemaParser.parse("DEFINE SCHEMA " + text, limits: limits)
                return nil
            } catch { return error.problem }
        }
        #expect(problem("RECORD TYPE A (); RECORD TYPE B ();") == nil)
        // What every container has counts to no bound, so that an export of a full one is read.
        #expect(problem("RECORD TYPE A (); RECORD TYPE B (); RECORD TYPE Users ();") == nil)
        #expect(
            problem("RECORD TYPE A (); RECORD TYPE B (); RECORD TYPE C ();")
                == "more than 2 record types")
        #expect(
            problem("RECORD TYPE A (a STRING, b STRING, c STRING);") == "more than 2 fields in A")
        let roles = (0...SchemaParser.mostRoles).map { "CREATE ROLE r\($0);" }.joined()
        #expect(problem(roles) == "more than 100 roles")
        let long = String(repeating: " ", count: SchemaParser.mostBytes)
        #expect(problem(long)?.hasPrefix("the schema takes ") == true)
    }
}
