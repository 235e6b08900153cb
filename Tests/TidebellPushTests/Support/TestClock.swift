// SPDX-License-Identifier: Apache-2.0
import TestSupport

/// A clock that moves when a test says so, and tells who sleeps.
typealias TestClock = SteppedClock
