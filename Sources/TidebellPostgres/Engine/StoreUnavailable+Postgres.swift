// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellPostgresClient

extension StoreUnavailable {
    /// What callers get of an error: that of the machine where it is one of the machine's.
    static func meant(by error: any Error) -> any Error {
        if let damage = error as? PostgresDamage { return StoreDamaged(detail: damage.description) }
        if let refusal = error as? StoreOpenError {
            if case .servedElsewhere = refusal {
                return StoreUnavailable(.isLocked, detail: refusal.description)
            }
            return StoreUnavailable(.isUnreachable, detail: refusal.description)
        }
        if let unsettled = error as? UnsettledCommit {
            return StoreUnavailable(.isUnreachable, detail: unsettled.description)
        }
        guard let error = error as? PostgresError else { return error }
        switch error.kind {
        case .connectionLost, .cannotConnect, .unavailable, .tooManyConnections, .notAuthorized,
            .queryCanceled:
            return StoreUnavailable(.isUnreachable, detail: error.description)
        case .diskFull: return StoreUnavailable(.diskIsFull, detail: error.description)
        case .serializationFailure, .deadlock:
            return StoreUnavailable(.isLocked, detail: error.description)
        case .uniqueViolation, .other:
            if error.endsConnection {
                return StoreUnavailable(.isUnreachable, detail: error.description)
            }
            guard ["XX001", "XX002"].contains(error.code) else { return error }
            return StoreDamaged(detail: error.description)
        }
    }
}
