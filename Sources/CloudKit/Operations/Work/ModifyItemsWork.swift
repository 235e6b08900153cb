// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The work of an operation that saves and deletes zones or subscriptions: one request.
struct ModifyItemsWork<Endpoints: ItemEndpoints>: OperationWork {
    typealias Item = Endpoints.Item

    let endpoints: Endpoints
    let saves: [Item]
    let deletions: [Item.ItemID]
    let callbacks: ModifyCallbacks<Item>

    var completion: Completion<Void> { callbacks.completion }

    func perform(_ ledger: inout OperationLedger) async {
        let changes = saves.map(Change.save) + deletions.map(Change.delete)
        guard !changes.isEmpty else { return }
        do throws(CKError) {
            if let error = OperationLimit.check(changes.count) { throw error }
            try await endpoints.prepare(saving: saves, ledger.options)
        } catch {
            ledger.fail(error)
            for change in changes { ledger.settle(change, .failure(error), callbacks) }
            return
        }
        await send(changes, &ledger)
    }

    private func send(_ changes: [Change<Item>], _ ledger: inout OperationLedger) async {
        var sent: [Change<Item>] = []
        var operations: [Endpoints.Operation] = []
        for change in changes {
            do throws(CKError) {
                operations.append(try endpoints.operation(for: change))
                sent.append(change)
            } catch {
                ledger.settle(change, .failure(error), callbacks)
            }
        }
        guard !operations.isEmpty else { return }
        do throws(CKError) {
            let answer = try await endpoints.modify(operations, ledger.options)
            ledger.report = answer.report
            for (change, result) in zip(sent, answer.value) {
                let outcome = endpoints.outcome(of: change, result, answer.report)
                ledger.settle(change, outcome, callbacks)
            }
        } catch {
            if error.code.concernsWholeRequest { ledger.fail(error) }
            for change in sent { ledger.settle(change, .failure(error), callbacks) }
        }
    }
}
