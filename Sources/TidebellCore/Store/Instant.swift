// SPDX-License-Identifier: Apache-2.0

// The rules speak of moments: whoever imports them may name one.
@_exported public import struct TidebellScheduling.Instant
