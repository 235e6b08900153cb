// SPDX-License-Identifier: Apache-2.0

// Apple's CloudKit brings these two along: code that imports CloudKit alone may
// name `Date`, `Data` or `CLLocation`.
@_exported public import TidebellLocation
@_exported public import Foundation

// What carries requests, what the device has configured, and locks and waits; all of it is of this package alone.
// `TidebellNetwork` must not be imported: see there.
@_exported public import TidebellDevice
@_exported public import TidebellScheduling
@_exported public import TidebellTransport
