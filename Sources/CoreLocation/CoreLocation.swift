// SPDX-License-Identifier: Apache-2.0

// The part of Apple's Core Location that `CloudKit` has, under Apple's name. A product of its own, which
// only those packages use whose sources import it: where a module `CoreLocation` is in sight, other packages'
// `canImport(CoreLocation)` is true, and they want all of Apple's.
@_exported public import TidebellLocation
