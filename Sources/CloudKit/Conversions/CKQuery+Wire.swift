// SPDX-License-Identifier: Apache-2.0
import TidebellLocation
import Foundation
import TidebellWire

extension WireQuery {
    /// Creates the query of a request (web-services 4.5).
    ///
    /// Fails with `invalidArguments` for a predicate or an order CloudKit refuses.
    init(_ query: CKQuery, in context: FilterContext) throws(CKError) {
        self.init(
            recordType: query.recordType,
            filters: try query.predicate.filters(in: context)
        )
        for descriptor in query.sortDescriptors ?? [] { sorts.append(try WireSort(descriptor)) }
    }
}

extension WireSort {
    /// Creates the sort key of a descriptor (QUERY-9).
    fileprivate init(_ descriptor: NSSortDescriptor) throws(CKError) {
        guard let order = descriptor.order, let key = order.key else {
            throw .invalidOrder(
                "A sort descriptor made of a key path, or without a key, cannot be asked of a "
                    + "server: make it of the name of a field."
            )
        }
        guard order.relativeLocation == nil || descriptor.ascending else {
            throw .invalidOrder(
                "Records are sorted by the distance of '\(key)' with the nearest first: a reversed "
                    + "CKLocationSortDescriptor is not supported by CloudKit."
            )
        }
        do {
            self.init(
                try WireFilter.Subject(key: key),
                ascending: descriptor.ascending,
                relativeLocation: order.relativeLocation.map { location in
                    WireLocation(
                        latitude: location.coordinate.latitude,
                        longitude: location.coordinate.longitude
                    )
                }
            )
        } catch {
            throw .invalidOrder(error.reason)
        }
    }
}

extension CKError {
    fileprivate static func invalidOrder(_ reason: String) -> CKError {
        .local(.invalidArguments, "Invalid sort descriptor: \(reason)")
    }
}

extension CKQueryCursor {
    /// Creates the cursor of the request that goes on.
    convenience init(_ request: QueryRecords.Request) {
        var rest = request
        // Each operation decides by itself how much it wants.
        rest.resultsLimit = nil
        rest.desiredKeys = nil
        self.init(data: Data(JSONWriter.write { rest.write(to: &$0) }))
    }

    /// Returns the request that goes on.
    ///
    /// Fails with `invalidArguments` for a cursor of another service.
    func request() throws(CKError) -> QueryRecords.Request {
        guard
            let request = try? JSONReader.read(
                Array(data), { try QueryRecords.Request(from: &$0) }
            ), request.continuationMarker != nil
        else {
            // Why the bytes are no request is of no use to the app.
            throw .local(
                .invalidArguments,
                "The query cursor was made by another service: run the query from its beginning."
            )
        }
        return request
    }
}
