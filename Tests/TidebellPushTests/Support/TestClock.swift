// SPDX-License-Identifier: Apache-2.0
import TestSupport

/// A clock that moves when a test moves it, and knows who sleeps.
typealias TestClock = SteppedClock
