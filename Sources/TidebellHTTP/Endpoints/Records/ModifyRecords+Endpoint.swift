// SPDX-License-Identifier: Apache-2.0
import TidebellCore
package import TidebellWire

/// `records/modify` (web-services 5.2).
extension ModifyRecords: Endpoint {
    /// Saves and deletes records; the answer means that they are durable, and
    /// never waits for pushes.
    package static func respond(to exchange: Exchange) async throws -> WebResponse {
        let call = exchange.call
        let request = try exchange.read(Request.self)
        let returnsSyncToken = try exchange.target.returnsSyncToken
        let scope = try await exchange.cloud.store.scope(of: request.zoneID, for: call)
        return try await exchange.write(scope) { reader in
            try readAhead(request, for: call, in: reader)
        } _: { transaction -> StepOutcome<Outcome, SchemaGrowth> in
            let outcome = try attempt(
                request, for: call, in: transaction, returnsSyncToken: returnsSyncToken
            )
            if case .done(let done) = outcome {
                // Small operations may have a large answer; where it is refused here, nothing is done.
                try exchange.bodyShare?.replace(byAnswer: done.response.largeBytes)
            }
            return outcome
        } last: {
            try $0.left?.run(as: $1)
        } json: {
            $0.response.write(to: &$1)
        } shortened: { outcome in
            guard outcome.response.changes else { return nil }
            var shortened = outcome
            shortened.response = outcome.response.withoutFields
            return shortened
        }
    }
}

extension ModifyRecords.Response {
    /// The bytes of the fields in it, of saved records and of the server's versions of
    /// those in conflict, and of the reasons.
    fileprivate var largeBytes: Int {
        records.reduce(0) { bytes, result in
            switch result {
            case .record(let record): bytes + record.fields.json.count
            case .deleted: bytes
            case .failed(_, let error):
                bytes + error.reason.utf8.count
                    + (error.detail?.serverRecord?.fields.json.count ?? 0)
            }
        }
    }

    /// Whether anything was saved or deleted.
    fileprivate var changes: Bool {
        records.contains { if case .failed = $0 { false } else { true } }
    }

    /// The answer without the fields of the saved records, and without the server's
    /// versions of those in conflict.
    fileprivate var withoutFields: ModifyRecords.Response {
        var shortened = self
        for index in shortened.records.indices {
            switch shortened.records[index] {
            case .record(var record):
                record.fields = .none
                shortened.records[index] = .record(record)
            case .deleted: break
            case .failed(let recordName, var error):
                error.detail?.serverRecord = nil
                shortened.records[index] = .failed(recordName: recordName, error)
            }
        }
        return shortened
    }
}
