// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The work of an operation that fetches zones or subscriptions: one request.
struct FetchItemsWork<Endpoints: ItemEndpoints>: OperationWork {
    typealias Item = Endpoints.Item

    let endpoints: Endpoints
    /// The IDs asked for; nil for all there are.
    let itemIDs: [Item.ItemID]?
    let callbacks: FetchCallbacks<Item>

    var completion: Completion<Void> { callbacks.completion }

    func perform(_ ledger: inout OperationLedger) async throws(CKError) {
        if let itemIDs {
            await fetch(itemIDs.uniqued(), &ledger)
        } else {
            // There are no IDs to report a failure of.
            try await fetchAll(&ledger)
        }
    }

    private func fetchAll(_ ledger: inout OperationLedger) async throws(CKError) {
        let answer = try await endpoints.list(ledger.options)
        ledger.report = answer.report
        for result in answer.value {
            let (itemID, item) = endpoints.read(result, of: nil, answer.report)
            ledger.settle(itemID, item, callbacks.item)
        }
    }

    private func fetch(_ itemIDs: [Item.ItemID], _ ledger: inout OperationLedger) async {
        guard !itemIDs.isEmpty else { return }
        do throws(CKError) {
            if let error = OperationLimit.check(itemIDs.count) { throw error }
            let answer = try await endpoints.lookUp(itemIDs, ledger.options)
            ledger.report = answer.report
            for (itemID, result) in zip(itemIDs, answer.value) {
                let (_, item) = endpoints.read(result, of: itemID, answer.report)
                ledger.settle(itemID, item, callbacks.item)
            }
        } catch {
            if error.code.concernsWholeRequest { ledger.fail(error) }
            for itemID in itemIDs { ledger.settle(itemID, .failure(error), callbacks.item) }
        }
    }
}
