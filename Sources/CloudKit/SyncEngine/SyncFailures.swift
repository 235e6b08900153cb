// SPDX-License-Identifier: Apache-2.0
import Foundation

extension CKError.Code {
    /// Whether the engine itself tries again later: the cause passes by itself (SYNC-20).
    var passesByItself: Bool {
        switch self {
        case .notAuthenticated, .accountTemporarilyUnavailable, .networkFailure,
            .networkUnavailable, .requestRateLimited, .serviceUnavailable, .zoneBusy:
            true
        default: false
        }
    }

    /// Whether a change that failed so is still to be sent.
    ///
    /// Beside the causes that pass by themselves: the change itself was not at fault
    /// (`batchRequestFailed`), room can be made for it (`quotaExceeded`), or nobody knows
    /// whether it was done.
    var keepsChangePending: Bool {
        switch self {
        case .batchRequestFailed, .quotaExceeded, .operationCancelled, .serverResponseLost:
            true
        default: passesByItself
        }
    }

    /// Whether a zone that fails so is gone, which the database's changes report as well.
    var meansZoneIsGone: Bool { self == .zoneNotFound || self == .userDeletedZone }
}

/// What went wrong in one attempt to sync.
struct SyncFailures {
    /// The errors of items, by record or zone ID.
    private(set) var items: [AnyHashable: CKError] = [:]
    /// Why the attempt ended early.
    private(set) var whole: CKError?

    /// Notes the error of an item.
    mutating func add(_ error: CKError, of item: some Hashable & Sendable) {
        items[AnyHashable(item)] = error
    }

    /// Notes why the attempt ends; the first reason stays.
    mutating func end(_ error: CKError) {
        whole = whole ?? error
    }

    /// Throws when anything went wrong: the error of the whole, or `partialFailure`.
    func check() throws(CKError) {
        if let whole { throw whole }
        if !items.isEmpty { throw .partial(items) }
    }
}
