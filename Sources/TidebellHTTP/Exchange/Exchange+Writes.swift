// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import HTTPTypes
import TidebellCore
import TidebellWire

/// The answer to a write of many items, each of which may have failed.
protocol ItemAnswer: Sendable {
    /// Why items failed.
    var failures: [WireError] { get }
}

extension ModifyRecords.Outcome: ItemAnswer {
    var failures: [WireError] {
        response.records.compactMap { if case .failed(_, let error) = $0 { error } else { nil } }
    }
}

extension ModifyZones.Response: ItemAnswer {
    var failures: [WireError] {
        zones.compactMap { if case .failed(_, let error) = $0 { error } else { nil } }
    }
}

extension SharesResponse: ItemAnswer {
    var failures: [WireError] {
        results.compactMap { if case .failed(_, let error) = $0 { error } else { nil } }
    }
}

extension RequestShareAccess.Response: ItemAnswer {
    var failures: [WireError] {
        results.compactMap { if case .failed(_, let error) = $0 { error } else { nil } }
    }
}

extension ModifySubscriptions.Response: ItemAnswer {
    var failures: [WireError] {
        subscriptions.compactMap { if case .failed(_, let error) = $0 { error } else { nil } }
    }
}

extension Exchange {
    /// The longest request ID.
    private static let requestIDLength = 255

    /// Runs a write of the caller's in one transaction, in which the caller is looked up
    /// again.
    ///
    /// The caller may be a remembered one, see ``CallerCache``: for somebody whose account
    /// was removed or disabled, or whose session ended, nothing is written after the
    /// transaction that did it. Nor for a client that went before its turn came: it cannot know
    /// whether the write was done, and makes it again.
    func transaction<Result: Sendable>(
        _ scope: StoreScope,
        _ run: @escaping @Sendable (any StoreTransaction) throws -> Result
    ) async throws -> Result {
        try await cloud.store.write(scope, for: call.user?.account) { transaction in
            self.readAhead(of: scope, in: transaction)
            try self.checkCaller(in: transaction)
            return try run(transaction)
        }
    }

    /// Announces what every write of a caller's reads, and what this one does besides.
    private func readAhead(
        of scope: StoreScope, in transaction: any StoreTransaction,
        _ reads: (any StoreReader) throws -> Void = { _ in }
    ) {
        transaction.readAhead { reader in
            if let hash = webTokenHash { _ = try reader.webToken(hash: hash) }
            if case .database(let key) = scope { _ = try reader.database(key) }
            try reads(reader)
        }
    }

    /// Runs a write of the caller's likewise, before which steps of other scopes may have to
    /// come, and after it others.
    func transaction<Result, Need>(
        _ scope: StoreScope,
        ahead: @escaping @Sendable (any StoreReader) throws -> Void = { _ in },
        attempting attempt:
            @escaping @Sendable (any StoreTransaction) throws -> StepOutcome<Result, Need>,
        first settle: @escaping @Sendable (Need, any StoreSteps) throws -> Void,
        last finish: @escaping @Sendable (Result, any StoreSteps) throws -> Void = { _, _ in }
    ) async throws -> Result {
        try await cloud.store.writeInSteps(for: call.user?.account, about: scope) { steps in
            let result = try steps.write(scope) { transaction in
                self.readAhead(of: scope, in: transaction, ahead)
                try self.checkCaller(in: transaction)
                return try attempt(transaction)
            } first: {
                try settle($0, steps)
            }
            try finish(result, steps)
            return result
        }
    }

    /// Fails where the caller may not write any more, or went away.
    func checkCaller(in transaction: any StoreTransaction) throws {
        guard request.presence?.hasLeft != true else { throw CancellationError() }
        _ = try webToken(in: transaction)
    }

    /// Runs a write about a device of `user`, the caller, whose client ID and push token are
    /// nobody else's then (SUB-51).
    func transaction<Result: Sendable>(
        registering clientID: String, pushToken: String? = nil, of user: StoredUser,
        _ run: @escaping @Sendable (any StoreTransaction) throws -> Result
    ) async throws -> Result {
        try await transaction(.user(user.id)) { transaction -> StepOutcome<Result, HeldByOthers> in
            let held = try HeldByOthers(
                clientID: clientID, pushToken: pushToken, besides: user, in: transaction
            )
            return if let held { .needs(held) } else { .done(try run(transaction)) }
        } first: {
            try $0.run(as: $1)
        }
    }

    /// Runs a write in one transaction and returns its answer as JSON; where it needs a schema
    /// to grow, that comes first.
    ///
    /// A write that the client named (`X-Tidebell-Request-ID`) is done once: when it comes
    /// again, the answer of the first time is given, which was kept in the same
    /// transaction. Fails with `BAD_REQUEST` when another request has the same name.
    ///
    /// - Parameters:
    ///   - ahead: What the write probably reads (``ReadingAhead/readAhead(_:)``).
    ///   - finish: Takes steps of other scopes after the write; not where it is done already, so that
    ///     they have to be taken by somebody else, too.
    ///   - shorten: What is kept of an answer that is longer than
    ///     ``Limits/keptAnswerLength``: what was done, without what can be fetched. Nil when
    ///     nothing was done: then nothing is kept, and the write may be tried again.
    func write<Answer: ItemAnswer>(
        _ scope: StoreScope,
        ahead: @escaping @Sendable (any StoreReader) throws -> Void = { _ in },
        _ run:
            @escaping @Sendable (any StoreTransaction) throws
            -> StepOutcome<Answer, SchemaGrowth>,
        last finish: @escaping @Sendable (Answer, any StoreSteps) throws -> Void = { _, _ in },
        json encode: @escaping @Sendable (Answer, inout JSONWriter) -> Void,
        shortened shorten: @escaping @Sendable (Answer) -> Answer? = { $0 }
    ) async throws -> WebResponse {
        guard let id = try writeID() else {
            let answer = try await transaction(scope, ahead: ahead, attempting: run) {
                try $0.run(as: $1)
            } last: {
                try finish($0, $1)
            }
            countRefusals(in: answer)
            return .json { encode(answer, &$0) }
        }
        let digest = digest
        let call = call
        let key = cloud.rootKey
        let fingerprint = key?.fingerprint(ofDigest: digest) ?? digest
        typealias Kept = (body: [UInt8], new: Answer?)
        let (body, new) = try await transaction(scope) { reader in
            _ = try reader.keptAnswer(to: id)
            try ahead(reader)
        } attempting: { transaction -> StepOutcome<Kept, SchemaGrowth> in
            if let kept = try transaction.keptAnswer(to: id) {
                // Servers before version 4 kept the digest itself.
                guard
                    [fingerprint, digest, KeptAnswer.noFingerprint].contains(kept.fingerprint)
                else { throw WireError.reused(id) }
                return .done((try key?.opened(answer: kept.body, to: id) ?? kept.body, nil))
            }
            let answer: Answer
            switch try run(transaction) {
            case .done(let done): answer = done
            case .needs(let growth): return .needs(growth)
            }
            let body = JSONWriter.write(capacity: 512) { encode(answer, &$0) }
            var kept = KeptAnswer(fingerprint: fingerprint, body: body)
            if body.count > call.limits.keptAnswerLength {
                guard let short = shorten(answer) else { return .done((body, answer)) }
                kept.body = JSONWriter.write(capacity: 512) { encode(short, &$0) }
            }
            if let key { kept.body = try key.sealed(answer: kept.body, to: id) }
            try transaction.keepAnswer(
                kept, to: id, at: call.now, exceeding: call.limits.keptAnswerBytesPerUser
            )
            return .done((body, answer))
        } first: {
            try $0.run(as: $1)
        } last: { kept, steps in
            if let new = kept.new { try finish(new, steps) }
        }
        var response = WebResponse.json(body)
        if let new { countRefusals(in: new) } else { response.isRepeated = true }
        return response
    }

    func countRefusals(in answer: some ItemAnswer) {
        for error in answer.failures { cloud.shares.metrics.count(error) }
    }

    /// The name of the write: that which the client gave it, or of a signed one its signature, so that
    /// whoever heard it changes nothing by sending it again; nil where it has none.
    private func writeID() throws -> WriteID? {
        if let id = signedWriteID { return id }
        guard let requestID = request.headers[.requestID], !requestID.isEmpty,
            let user = call.user
        else { return nil }
        guard requestID.utf8.count <= Self.requestIDLength else {
            throw WireError.badRequest(
                "the header '\(WireProtocol.requestIDHeader)' is longer than "
                    + "\(Self.requestIDLength) bytes"
            )
        }
        return WriteID(user: user.id, clientID: call.clientID ?? "", requestID: requestID)
    }

    private var signedWriteID: WriteID? {
        guard let signature, let user = call.user else { return nil }
        return WriteID(
            user: user.id, clientID: "", requestID: "signature \(signature.identity)")
    }

    /// Notes the signature of a request that changes something and whose answer is not kept; fails with
    /// `AUTHENTICATION_FAILED` where that came before.
    func claimSignature() async throws {
        guard let id = signedWriteID else { return }
        let call = call
        let key = DatabaseKey(container: call.container, scope: .public, owner: nil)
        try await transaction(.database(key)) { transaction in
            guard try transaction.keptAnswer(to: id) == nil else {
                throw WireError.repeatedSignature
            }
            try transaction.keepAnswer(
                KeptAnswer(fingerprint: [], body: []), to: id, at: call.now,
                exceeding: call.limits.keptAnswerBytesPerUser)
        }
    }

    /// What distinguishes this request from others: its path and its body. Not its tokens,
    /// which may be renewed between two attempts.
    private var digest: [UInt8] {
        var hasher = SHA256()
        hasher.update(data: Array(target.path.utf8))
        hasher.update(data: [0])
        hasher.update(data: body)
        return Array(hasher.finalize())
    }
}

extension WireError {
    /// A request under the name of another one.
    fileprivate static func reused(_ id: WriteID) -> WireError {
        .badRequest(
            "the \(WireProtocol.requestIDHeader) '\(shortened(id.requestID))' was used for "
                + "another request; give each write its own"
        )
    }
}
