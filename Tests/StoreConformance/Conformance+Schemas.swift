// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore
import TidebellWire

extension StoreConformance {
    static let wholeSchemas: [Check] = [
        Check("ENV-2: a schema that is replaced is what was put, and no other container's") {
            store in
            try await store.write(.everything) { transaction throws in
                let note = StoredRecordType(
                    fields: ["text": StoredField(.string, indexes: .sortable)],
                    systemIndexes: Dictionary(
                        uniqueKeysWithValues: SchemaSystemField.allCases.map {
                            ($0, $0 == .recordID ? .queryable : [])
                        }),
                    grants: RecordGrants(["Editor": [.read, .write]]))
                let schema = SchemaDefinition(
                    roles: ["Editor", "Reader"],
                    types: [
                        "Note": note, "Empty": StoredRecordType(),
                        "Closed": StoredRecordType(grants: RecordGrants([:])),
                    ])
                let plain = StoredRecordType(fields: ["old": StoredField(.int64)])
                for container in [ContainerKey.notes, .released] {
                    try transaction.addRecordTypes(["Old": plain], in: container)
                }
                let before = try transaction.schemaRevision(of: .notes)
                try transaction.replaceSchema(with: schema, in: .notes)
                #expect(try transaction.schemaRevision(of: .notes) != before)
                #expect(try transaction.schemaDefinition(of: .notes) == schema)
                let types = try transaction.recordTypes(["Note", "Closed", "Old"], in: .notes)
                #expect(types == ["Note": note, "Closed": schema.types["Closed"]])
                #expect(
                    try transaction.schemaDefinition(of: .released)
                        == SchemaDefinition(types: ["Old": plain]))
                // What grows keeps what is stated.
                let more = StoredRecordType(fields: ["more": StoredField(.double)])
                try transaction.addRecordTypes(["Note": more], in: .notes)
                var grown = note
                grown.fields["more"] = StoredField(.double)
                #expect(try transaction.recordTypes(["Note"], in: .notes) == ["Note": grown])
            }
        },
        Check("Deployments are returned newest first, and the oldest are forgotten") { store in
            try await store.write(.everything) { transaction throws in
                let all = (1...4).map {
                    SchemaDeployment(
                        number: $0, deployedAt: 10 * $0, author: "anna",
                        changes: ["+ RECORD TYPE N\($0)", "+ N\($0).a STRING"])
                }
                for deployment in all {
                    try transaction.appendSchemaDeployment(deployment, to: .released, keeping: 3)
                }
                let kept = try transaction.schemaDeployments(to: .released, limit: 9)
                #expect(kept == [all[3], all[2], all[1]])
                #expect(try transaction.schemaDeployments(to: .released, limit: 1) == [all[3]])
                #expect(try transaction.schemaDeployments(to: .notes, limit: 9) == [])
            }
        },
        Check("What was asked for is there once, and the oldest of it is forgotten") { store in
            try await store.write(.everything) { transaction throws in
                let uses = (1...3).map { number in
                    QueryUse(
                        kind: number == 1 ? .subscription : .query, recordType: "Note",
                        text: "f\(number) == %@",
                        needs: [.field("f\(number)", .queryable), .anyText])
                }
                for (index, use) in (uses + [uses[0]]).enumerated() {
                    try transaction.noteQueryUses(
                        [use], in: .notes, at: Instant(rawValue: Int64(index)), keeping: 2)
                }
                let kept = try transaction.queryUses(in: .notes, limit: 9)
                #expect(kept == [uses[0], uses[2]])
                #expect(try transaction.queryUses(in: .notes, limit: 1) == [uses[0]])
                #expect(try transaction.queryUses(in: .released, limit: 9) == [])
            }
        },
        Check("ACCT-7: a role is given to users, and taken away") { store in
            try await store.write(.everything) { transaction throws in
                let account = try transaction.createAccount(
                    named: "roles", at: Instant(rawValue: 1))
                let user = try transaction.makeUser(
                    of: account, in: .notes, recordName: "_roles", at: Instant(rawValue: 1))
                for role in ["Editor", "Reader", "Editor"] {
                    try transaction.setRole(role, of: user.id, isGiven: true)
                }
                #expect(try transaction.roles(of: user.id) == ["Editor", "Reader"])
                #expect(
                    try transaction.users(withRole: "Editor", in: .notes, limit: 9) == [user])
                #expect(
                    try transaction.users(withRole: "Editor", in: .released, limit: 9) == [])
                for _ in 1...2 {
                    try transaction.setRole("Editor", of: user.id, isGiven: false)
                }
                #expect(try transaction.roles(of: user.id) == ["Reader"])
                #expect(try transaction.users(withRole: "Editor", in: .notes, limit: 9) == [])
            }
        },
    ]
}
