// SPDX-License-Identifier: Apache-2.0
import TestSupport

/// A clock that stands still until a test moves it.
typealias ManualClock = SteppedClock
