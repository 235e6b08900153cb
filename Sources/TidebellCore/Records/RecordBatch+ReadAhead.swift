// SPDX-License-Identifier: Apache-2.0
import Foundation
package import TidebellWire

extension ModifyRecords {
    /// Announces what saving and deleting reads (``ReadingAhead/readAhead(_:)``), as far as the request says it.
    package static func readAhead(
        _ request: Request, for call: Call, in reader: some StoreReader
    ) throws {
        let database = try call.database()
        if database.quota(call.limits) != nil, database.owner != nil {
            _ = try database.quotaUse(nil, in: reader)
        }
        // Also where all is deleted, whose types the request does not name.
        _ = try reader.schemaRevision(of: call.container)
        let types = Set(request.operations.compactMap(\.recordType))
        let schema = try reader.growingSchema(
            of: types, inDatabaseOf: database.key.owner, for: call)
        let access = try call.access(to: request.zoneID, in: reader)
        if access.rights == .byGrants {
            _ = try PublicRights(of: call.user, among: types.map(schema.grants(of:)), in: reader)
        }
        guard let zone = access.zone else { return }
        _ = try RecordAssets(of: request.operations, for: call, in: access, reader)
        let names = Set(request.names(for: call))
        let demanded = try request.demanded(for: call)
        _ = try reader.records(names, in: zone.key, for: call)
        _ = try reader.recordsWithoutFields(demanded.subtracting(names), in: zone.key)
        _ = try reader.deleteSelfCounts(
            to: request.deleteSelfTargets(for: call, in: access), in: zone.key)
        _ = try reader.references(to: request.deletedNames, in: zone.key)
        if zone.isIndexed { _ = try reader.fieldIndexes(in: zone.key, of: nil) }
        _ = try BatchSharing(
            request, names: names, demanded: demanded, in: zone, access, for: call, reader)
    }
}

extension ModifyRecords.Request {
    /// The name of each operation's record, given or made.
    func names(for call: Call) -> [String] {
        operations.enumerated().map { index, operation in
            operation.recordName ?? call.uuids[index].uuidString
        }
    }

    fileprivate var deletedNames: Set<String> {
        Set(operations.lazy.filter(\.type.deletes).compactMap(\.recordName))
    }

    /// What the records refer to with `DELETE_SELF`, but for what they did before.
    fileprivate func deleteSelfTargets(for call: Call, in access: ZoneAccess) -> Set<String> {
        let references = RecordReferences(in: access)
        return zip(operations, names(for: call)).reduce(into: []) { targets, operation in
            let (operation, name) = operation
            let fields = operation.fields.values.compactMapValues(\.self)
            for reference in references.consequential(from: name, fields: fields, parent: nil)
            where reference.kind == .deleteSelf {
                targets.insert(reference.target)
            }
        }
    }
}
