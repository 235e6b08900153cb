// SPDX-License-Identifier: Apache-2.0
import Testing
import TidebellCore

@Suite("What must hold") struct InvariantTests {
    @Test("What our own code broke stops a debug build, where it is checked")
    func broken() async {
        await #expect(processExitsWith: .failure) {
            invariant([1, 2, 2].ascends, "numbers ascend")
        }
    }

    @Test("What holds costs nothing, and an empty history ascends")
    func holds() {
        invariant([Int]().ascends && [7].ascends && [1, 2, 3].ascends, "numbers ascend")
        #expect(![2, 1].ascends && ![1, 1].ascends)
    }
}
